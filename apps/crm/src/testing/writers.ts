type Headers = Readonly<Record<string, string>>;

/** What clients have been answered. */
export interface Written {
  /** The ids of the contacts whose creation was confirmed, in the order of the clients. */
  readonly ids: readonly (readonly string[])[];
  /** The requests that did not succeed. */
  readonly failures: readonly string[];
  /** The longest time that a client waited for an answer, in milliseconds. */
  readonly longestMs: number;
}

export interface Writers {
  /** How many creations have been confirmed so far. */
  confirmed(): number;
  /** Lets the running requests end. */
  stop(): Promise<Written>;
}

const CONTACTS = '/api/crm/contacts';

/** Each client creates a contact, reads it, changes it, and begins again, until `stop`. */
export const startWriters = (url: string, clients: readonly Headers[]): Writers => {
  const ids: string[][] = clients.map(() => []);
  const failures: string[] = [];
  let longestMs = 0;
  let isStopping = false;
  const send = async (method: string, path: string, headers: Headers, body?: object) => {
    const begin = performance.now();
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    longestMs = Math.max(longestMs, performance.now() - begin);
    if (!response.ok) throw new Error(`${method} ${response.status} ${text}`);
    return JSON.parse(text) as { readonly data: { readonly id: string } };
  };
  const writeOne = async (headers: Headers, own: string[]): Promise<void> => {
    const { id } = (await send('POST', CONTACTS, headers, { first_name: 'Ada' })).data;
    own.push(id);
    await send('GET', `${CONTACTS}/${id}`, headers);
    await send('PUT', `${CONTACTS}/${id}`, headers, { last_name: 'Lovelace' });
  };
  const write = async (headers: Headers, own: string[]): Promise<void> => {
    while (!isStopping) {
      await writeOne(headers, own).catch((error) => failures.push(String(error)));
    }
  };
  const running = clients.map((headers, index) => write(headers, ids[index] ?? []));
  return {
    confirmed: () => ids.reduce((sum, own) => sum + own.length, 0),
    async stop() {
      isStopping = true;
      await Promise.all(running);
      return { ids, failures, longestMs };
    },
  };
};
