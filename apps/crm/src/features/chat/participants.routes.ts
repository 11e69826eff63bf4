import type { RouteTable } from '@tessera/http-kit';
import { recordRoutes } from '../../records/routes.ts';
import { channelPermissions } from './channels.kind.ts';
import { type Participants, participant } from './participants.kind.ts';

const problems = { 409: 'The participant is the last owner, or the channel is direct' };

export const participantRoutes = (participants: Participants): RouteTable => {
  const routes = recordRoutes(participant, participants);
  const removal = routes.delete({
    summary: 'Remove a participant from a channel',
    description:
      'Everybody may leave a channel. Removing somebody else requires `chat.participants.delete`; in a private channel, only owners can. The scopes of the token must include `chat.participants.delete` for both.',
    problems,
  });
  return {
    listChannelParticipants: routes.list(),
    createChannelParticipant: routes.create({
      summary: 'Add a participant to a channel',
      description: 'In a private channel, only owners can. Everybody may join a public one.',
      problems: { 409: 'The channel is direct' },
    }),
    getChannelParticipant: routes.get(),
    updateChannelParticipant: routes.update({
      summary: 'Change the role of a participant',
      description: 'In a private channel, only owners can.',
      problems,
    }),
    // Callers who may read a channel may leave it; the service requires more for removing others.
    deleteChannelParticipant: { ...removal, permission: channelPermissions.view },
    listChannelParticipantHistory: routes.history(),
  };
};
