interface Answer {
  readonly body: { readonly error?: unknown };
}

/** Repeats a request that got no connection to the database in time, as clients do: that happens on a busy machine. */
export const untilConnected = async <A extends Answer>(send: () => PromiseLike<A>): Promise<A> => {
  for (;;) {
    const answer = await send();
    if (answer.body.error !== 'database_unavailable') return answer;
  }
};
