import {
  described,
  list,
  named,
  nullable,
  oneOf,
  optional,
  reference,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { MessageInput, UploadFields } from '../messages.schema.ts';

/** How many channels a bot is told about. */
export const MAX_CHANNELS = 1000;

const channelId = described(
  optional(nullable(reference('channels'))),
  'A channel that the bot was added to; can be omitted if there is only one',
);

export const BotMessageInput = named(
  'BotMessageInput',
  shape({ channel_id: channelId, ...MessageInput.fields }),
);

/** What a bot sends with a file. */
export const BotUploadFields = shape({
  channel_id: described(
    optional(uuid()),
    'A channel that the bot was added to; can be omitted if there is only one',
  ),
  ...UploadFields.fields,
});

export const OwnBot = named(
  'OwnBot',
  shape({
    id: uuid(),
    name: text(80),
    description: nullable(text(500)),
    channels: described(
      list(
        shape({
          id: uuid(),
          kind: oneOf('public', 'private'),
          name: text(80),
          topic: nullable(text(500)),
        }),
        { max: MAX_CHANNELS },
      ),
      'The channels in which the bot can post, by name; at most 1000',
    ),
    created_at: time(),
    updated_at: time(),
  }),
);
