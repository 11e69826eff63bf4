import type { Journal, Write } from './journal.ts';
import { judge, type Outcome, send } from './outcome.ts';

export interface Target {
  readonly identity: string;
  readonly crm: string;
  /** Members of two tenants. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly tenant: string;
  readonly userId: string;
  readonly token: string;
}

export interface OperationContext {
  readonly target: Target;
  readonly journal: Journal;
  /** Distinguishes the writes of this scenario. */
  readonly run: string;
  readonly refusals: readonly string[];
}

/** Sends one request and judges the response. */
export type Operation = (context: OperationContext) => Promise<Outcome>;

const timed = async (
  operation: string,
  work: () => Promise<Pick<Outcome, 'kind' | 'detail'>>,
): Promise<Outcome> => {
  const sentAt = performance.now();
  const { kind, detail } = await work();
  return { kind, detail, operation, sentAt, endedAt: performance.now() };
};

interface ContactBody {
  readonly data?: { readonly id?: string; readonly first_name?: string };
}

/** Sends a write of the journal, for the first time or again with the same key. */
export const sendWrite = (
  { target, refusals }: OperationContext,
  member: Member,
  write: Write,
): Promise<Outcome> =>
  timed('create a contact', async () => {
    const reply = await send('POST', `${target.crm}/api/crm/contacts`, {
      token: member.token,
      key: write.name,
      body: { first_name: write.name },
    });
    return judge(
      reply,
      (body) => {
        const { data } = body as ContactBody;
        if (data?.first_name !== write.name || data.id === undefined) return false;
        if (write.id !== undefined && write.id !== data.id) return false;
        write.id = data.id;
        return true;
      },
      refusals,
    );
  });

const createContact =
  (member: Member): Operation =>
  (context) =>
    sendWrite(context, member, context.journal.next(member.tenant, context.run));

const readContact =
  (member: Member): Operation =>
  ({ target, journal, refusals }) =>
    timed('read a contact', async () => {
      const own = journal.answered.filter(({ tenant }) => tenant === member.tenant);
      const wanted = own[Math.floor(Math.random() * own.length)];
      if (!wanted) return { kind: 'ok', detail: '' };
      const path = `${target.crm}/api/crm/contacts/${wanted.id}`;
      const reply = await send('GET', path, { token: member.token });
      return judge(
        reply,
        (body) => (body as ContactBody).data?.first_name === wanted.name,
        refusals,
      );
    });

interface ListBody {
  readonly data?: readonly { readonly first_name?: string }[];
}

const listContacts =
  (member: Member): Operation =>
  ({ target, refusals }) =>
    timed('list contacts', async () => {
      const reply = await send('GET', `${target.crm}/api/crm/contacts`, { token: member.token });
      const isOwn = ({ first_name: name }: { readonly first_name?: string }) =>
        name?.startsWith(`${member.tenant}-`) ?? false;
      return judge(reply, (body) => (body as ListBody).data?.every(isOwn) ?? false, refusals);
    });

const me =
  (member: Member): Operation =>
  ({ target, refusals }) =>
    timed('GET /api/me', async () => {
      const reply = await send('GET', `${target.identity}/api/me`, { token: member.token });
      const isOwn = (body: unknown) =>
        (body as { data?: { id?: string } }).data?.id === member.userId;
      return judge(reply, isOwn, refusals);
    });

/** Changes the profile and reads it: what was answered with 2xx last, or sent since, is there. */
const profile = (member: Member): Operation => {
  let possible = new Set<string>();
  let count = 0;
  let isRead = true;
  let hasChanged = false;
  return ({ target, run, refusals }) => {
    isRead = !isRead;
    const path = `${target.identity}/api/profile`;
    const { token } = member;
    const nameIn = (body: unknown) => (body as ContactBody).data?.first_name ?? '';
    if (isRead) {
      return timed('read a profile', async () =>
        judge(await send('GET', path, { token }), (body) => possible.has(nameIn(body)), refusals),
      );
    }
    return timed('change a profile', async () => {
      count += 1;
      const name = `${run} ${count}`;
      possible.add(name);
      const reply = await send('PUT', path, { token, body: { first_name: name } });
      const judged = judge(reply, (body) => nameIn(body) === name, refusals);
      if (judged.kind === 'ok') possible = new Set([name]);
      // Before the first success the profile has another name.
      hasChanged ||= judged.kind === 'ok';
      isRead ||= !hasChanged;
      return judged;
    });
  };
};

/** Uploads a document and reads it back. */
const documents = (member: Member): Operation => {
  const stored: { readonly id: string; readonly content: string }[] = [];
  let count = 0;
  return ({ target, run, refusals }) => {
    count += 1;
    const path = `${target.crm}/api/crm/documents`;
    const { token } = member;
    const wanted = count % 2 === 0 ? stored.at(-1) : undefined;
    if (wanted) {
      return timed('download a document', async () =>
        judge(
          await send('GET', `${path}/${wanted.id}/download`, { token }),
          (_body, text) => text === wanted.content,
          refusals,
        ),
      );
    }
    return timed('upload a document', async () => {
      const content = `${run} ${count} ${'x'.repeat(5000)}`;
      const form = new FormData();
      form.set('file', new Blob([content], { type: 'text/plain' }), `${run}-${count}.txt`);
      const key = `document-${run}-${count}`;
      return judge(
        await send('POST', path, { token, key, form }),
        (body) => {
          const id = (body as ContactBody).data?.id;
          if (id !== undefined) stored.push({ id, content });
          return id !== undefined;
        },
        refusals,
      );
    });
  };
};

/** One list for each concurrent caller, who sends its operations one after another. */
export const callers = (
  { members }: Target,
  { withDocuments }: { readonly withDocuments: boolean },
): readonly (readonly Operation[])[] => {
  const ofMembers = members.flatMap((member) => [
    [createContact(member), readContact(member)],
    [listContacts(member), me(member)],
  ]);
  const [first] = members;
  if (!first) return ofMembers;
  return [...ofMembers, [profile(first)], ...(withDocuments ? [[documents(first)]] : [])];
};
