/** The ids and texts of messages in a part of an event stream that consists of whole events. */
const messagesIn = (events: string) =>
  events.split('\n\n').flatMap((event) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(event)?.[1];
    const id = field('id');
    const text =
      field('event') === 'message.created' && JSON.parse(field('data') ?? '').message.body;
    return id === undefined ? [] : [{ id, text: text as string | false }];
  });

/**
 * Follows a channel as a browser does: it connects again after each end, with the id of the last event. Messages
 * sent before `state.lastId` is set, with the event `ready`, may not arrive. `texts` are those of the messages that
 * arrived, in their order.
 */
export const follow = (channel: string, token: string) => {
  const texts: string[] = [];
  const stopping = new AbortController();
  const state = { connections: 0, lastId: '' };
  const connect = async () => {
    const headers = { authorization: `Bearer ${token}`, 'last-event-id': state.lastId };
    const answer = await fetch(`${channel}/stream`, { headers, signal: stopping.signal });
    state.connections += 1;
    let rest = '';
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const text = rest + part;
      const end = text.lastIndexOf('\n\n') + 1;
      rest = text.slice(end);
      for (const { id, text: message } of messagesIn(text.slice(0, end))) {
        state.lastId = id;
        if (message !== false) texts.push(message);
      }
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) await connect().catch(() => undefined);
  };
  const finished = run();
  return {
    texts,
    state,
    async stop() {
      stopping.abort();
      await finished;
    },
  };
};
