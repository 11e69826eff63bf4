import { randomUUID } from 'node:crypto';
import { EventHub, follow } from '@tessera/background-work';
import type { EventSource, Logger } from '@tessera/http-kit';
import type { Database } from '../../../database.ts';
import type { ChatViewer } from '../channels.visibility.ts';
import { CHAT_NOTIFICATIONS } from '../chat-events.ts';
import { type ChatFeedEvent, newestPosition, readFeed } from './chat-feed.repository.ts';
import { ChatStream } from './chat-stream.ts';
import { channelsOfUser } from './membership.repository.ts';
import { Presence, type PresenceStatus } from './presence.ts';
import type { ChatStreamEvent } from './stream-events.ts';

export interface ChatStreamsOptions {
  readonly database: Database;
  /** The database itself: LISTEN does not work through PgBouncer in transaction mode. */
  readonly directUrl: string;
  readonly logger: Logger;
}

export interface OpenStreamRequest {
  /** The channel of the stream; without one, all channels that the caller participates in. */
  readonly channelId?: string | undefined;
  /** The position after which the stream continues; undefined begins now. */
  readonly after: number | undefined;
  /** Whether the caller may know who participates and who is online, which can change. */
  readonly showsParticipants: () => boolean;
}

/** How many events are read at once. */
const PAGE = 200;
/** Milliseconds in which a user who is typing in a channel is announced once by each replica. */
const TYPING_MS = 2000;

/** The open streams of this process, what feeds them, and who is online. */
export class ChatStreams {
  readonly #options: ChatStreamsOptions;
  readonly #hub: EventHub<ChatFeedEvent>;
  readonly #open = new Map<string, Set<ChatStream>>();
  readonly #typing = new Map<string, number>();
  readonly presence: Presence;

  constructor(options: ChatStreamsOptions) {
    const { database, directUrl, logger } = options;
    this.#options = options;
    this.presence = new Presence({
      instance: randomUUID(),
      send: (payloads) => this.#notify(payloads),
      changed: (...change) => void this.#announcePresence(...change),
    });
    this.#hub = new EventHub<ChatFeedEvent>({
      directUrl,
      applicationName: 'crm chat',
      channel: CHAT_NOTIFICATIONS,
      logger,
      announced(payload) {
        const [what, topic = '', position] = payload.split(' ');
        return what === 'event' ? { topic, position: Number(position) } : undefined;
      },
      onSignal: (payload) => this.#signalled(payload),
      onListening: () => this.presence.ask(),
      read: (tenantId, after) => readFeed(database.forTenant(tenantId), { after, limit: PAGE }),
      newest: (tenantId) => newestPosition(database.forTenant(tenantId)),
    });
  }

  /** Starts to listen; succeeds even if the database is unavailable. */
  start(): void {
    this.presence.start();
    this.#hub.start();
  }

  async stop(): Promise<void> {
    await this.#hub.stop();
    await this.presence.stop();
  }

  /** Opens a stream, which ends with its signal. */
  open(
    viewer: ChatViewer,
    { channelId, after, showsParticipants }: OpenStreamRequest,
  ): EventSource<ChatStreamEvent> {
    const { tenantId, userUuid } = viewer;
    const db = this.#options.database.forTenant(tenantId);
    const stream = new ChatStream({ db, viewer, channelId, showsParticipants });
    const hub = this.#hub;
    const register = (): (() => void) => this.#register(tenantId, userUuid, stream);
    return async function* (signal) {
      signal.addEventListener('abort', () => stream.queue.end());
      const unregister = register();
      try {
        yield* follow(hub, stream, after);
      } finally {
        unregister();
      }
    };
  }

  /** Tells the streams of a channel, at all replicas, that a user is typing. */
  announceTyping(tenantId: string, channelId: string, userId: string): void {
    const key = `${tenantId} ${channelId} ${userId}`;
    const now = performance.now();
    if (now - (this.#typing.get(key) ?? Number.NEGATIVE_INFINITY) < TYPING_MS) return;
    for (const [old, at] of this.#typing) if (now - at > TYPING_MS) this.#typing.delete(old);
    this.#typing.set(key, now);
    void this.#notify([`typing ${key}`]);
  }

  #register(tenantId: string, userId: string | null, stream: ChatStream): () => void {
    const open = this.#open.get(tenantId) ?? new Set();
    this.#open.set(tenantId, open.add(stream));
    const leave = userId === null ? () => undefined : this.presence.enter(tenantId, userId);
    return () => {
      leave();
      open.delete(stream);
      if (open.size === 0 && this.#open.get(tenantId) === open) this.#open.delete(tenantId);
    };
  }

  /** Notifications are lost if the database is unavailable, as are those to streams that are reconnecting. */
  async #notify(payloads: readonly string[]): Promise<void> {
    const { database, logger } = this.#options;
    try {
      await database.pool.query(
        'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
        [CHAT_NOTIFICATIONS, payloads],
      );
    } catch (err) {
      logger.warn({ err }, 'a notification of the chat was not sent');
    }
  }

  #signalled(payload: string): void {
    if (this.presence.receive(payload)) return;
    const [what, tenantId = '', channelId = '', userId = ''] = payload.split(' ');
    if (what !== 'typing') return;
    const event: ChatStreamEvent = {
      event: 'typing',
      data: { channel_id: channelId, user_id: userId },
    };
    this.#signal(tenantId, event, (stream) => stream.userId !== userId && stream.covers(channelId));
  }

  async #announcePresence(tenantId: string, userId: string, status: PresenceStatus): Promise<void> {
    if (!this.#open.has(tenantId)) return;
    const { database, logger } = this.#options;
    try {
      const channelIds = await channelsOfUser(database.forTenant(tenantId), userId);
      const event: ChatStreamEvent = { event: 'presence', data: { user_id: userId, status } };
      this.#signal(
        tenantId,
        event,
        (stream) =>
          stream.showsParticipants() &&
          stream.userId !== userId &&
          channelIds.some((id) => stream.covers(id)),
      );
    } catch (err) {
      logger.warn({ err }, 'the presence of a user was not sent');
    }
  }

  #signal(tenantId: string, event: ChatStreamEvent, isFor: (stream: ChatStream) => boolean): void {
    for (const stream of this.#open.get(tenantId) ?? []) if (isFor(stream)) stream.signal(event);
  }
}
