import type { Follower, StoredEvents } from '@tessera/background-work';
import {
  closedEvent,
  EventQueue,
  notFound,
  type PositionMark,
  serialised,
} from '@tessera/http-kit';
import type { TenantDb } from '../../../database.ts';
import type { ChatViewer } from '../channels.visibility.ts';
import { type ChatFeedEvent, readFeed, readStreamState } from './chat-feed.repository.ts';
import type { ChatStreamEvent } from './stream-events.ts';

export interface ChatStreamOptions {
  readonly db: TenantDb;
  readonly viewer: ChatViewer;
  /** The channel of the stream; without one, all channels that the caller participates in. */
  readonly channelId?: string | undefined;
  /** Whether the caller may know who participates and who is online, which can change. */
  readonly showsParticipants: () => boolean;
}

const PAGE = 100;
/** What may wait for a client, besides what the connection buffers. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 1024 * 1024;

/** How many of the events make a page: at least one, and no more than `MAX_BYTES` if there are several. */
const fitting = (events: readonly ChatStreamEvent[]): number => {
  let bytes = 0;
  const first = events.findIndex((event, index) => {
    bytes += serialised(event).bytes;
    return index > 0 && bytes > MAX_BYTES;
  });
  return Math.min(first === -1 ? events.length : first, PAGE);
};

const tooSlow = closedEvent(
  'stream_too_slow',
  'You read the events too slowly. Connect again to continue after the last one.',
);

const removed = closedEvent('removed_from_channel', 'You no longer participate in the channel.');

const missing = notFound('The channel');
const gone = closedEvent(missing.code, missing.message);

/** One open stream: decides which events of the tenant it delivers. */
export class ChatStream implements Follower<ChatFeedEvent, ChatStreamEvent> {
  readonly topic: string;
  readonly queue = new EventQueue<ChatStreamEvent | PositionMark>({
    limit: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    overflow: tooSlow,
  });
  readonly #db: TenantDb;
  readonly #viewer: ChatViewer;
  readonly #channelId: string | undefined;
  readonly showsParticipants: () => boolean;
  #channelIds: Set<string> = new Set();

  constructor({ db, viewer, channelId, showsParticipants }: ChatStreamOptions) {
    this.showsParticipants = showsParticipants;
    this.topic = viewer.tenantId;
    this.#db = db;
    this.#viewer = viewer;
    this.#channelId = channelId;
  }

  /** The user whose stream it is; null for a client. */
  get userId(): string | null {
    return this.#viewer.userUuid;
  }

  /** Whether the stream delivers the events of a channel. */
  covers(channelId: string): boolean {
    return this.#channelIds.has(channelId);
  }

  async catchUp(after: number | undefined): Promise<StoredEvents<ChatStreamEvent>> {
    const { newest, keptAfter, channelIds } = await readStreamState(
      this.#db,
      this.#viewer,
      this.#channelId,
    );
    this.#channelIds = new Set(channelIds);
    const complete = (events: readonly ChatStreamEvent[]) => ({
      events,
      position: newest,
      hasMore: false,
    });
    if (this.#channelId !== undefined && channelIds.length === 0) {
      this.queue.end(gone);
      return complete([]);
    }
    const id = `${newest}`;
    if (after === undefined) return complete([{ event: 'ready', id, data: {} }]);
    if (after < keptAfter || after > newest) return complete([{ event: 'reset', id, data: {} }]);
    const userId = this.#channelId === undefined ? this.userId : null;
    const events = await readFeed(this.#db, {
      after,
      upTo: newest,
      limit: PAGE + 1,
      only: { channelIds, userId },
    });
    const page = events.slice(0, fitting(events.map((event) => event.sent)));
    const sent = page.filter((event) => this.#shows(event)).map((event) => event.sent);
    if (page.length === events.length) return complete(sent);
    return { events: sent, position: page.at(-1)?.position ?? newest, hasMore: true };
  }

  /** Whether an event is about the participation of the caller. */
  #isOwn({ participantId }: ChatFeedEvent): boolean {
    return participantId !== undefined && participantId === this.userId;
  }

  /** Callers who may not list participants learn of their own participation only. */
  #shows(event: ChatFeedEvent): boolean {
    return event.participantId === undefined || this.#isOwn(event) || this.showsParticipants();
  }

  deliver(event: ChatFeedEvent): void {
    const { channelId, type, participantIds } = event;
    const isOwn = this.#isOwn(event);
    if (this.#channelId === undefined) {
      const appears = this.userId !== null && participantIds.includes(this.userId);
      if (appears || (isOwn && type === 'participant.added')) this.#channelIds.add(channelId);
    }
    if (!this.covers(channelId)) return;
    if (this.#shows(event)) this.queue.push(event.sent);
    const hasLeft = isOwn && type === 'participant.removed';
    if (!hasLeft && type !== 'channel.deleted') return;
    this.#channelIds.delete(channelId);
    if (this.#channelId !== undefined) this.queue.end(hasLeft ? removed : gone);
  }

  /** Sends something that is not stored, and not sent again after a reconnection. */
  signal(event: ChatStreamEvent): void {
    this.queue.push(event);
  }
}
