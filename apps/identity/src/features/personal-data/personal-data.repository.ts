import { type Actor, note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import type {
  Device,
  PreviousPassword,
  Prisma,
  Session,
  Token,
} from '../../generated/prisma/client.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import * as present from './personal-data.present.ts';
import type { Entries, Section, Single } from './personal-data.schema.ts';

interface Dependencies {
  readonly database: Database;
  readonly securityMails: Pick<SecurityMails, 'tell'>;
}

/** Reads the entries that follow one; the first ones after null. */
type Read<Row> = (after: Row | null) => Promise<Row[]>;

type Entry<S extends Section> = Entries[S][number];

/** Reads one section, batch by batch. */
type Reader<S extends Section> = () => AsyncGenerator<Entries[S]>;

/** Entries of one statement. */
const BATCH = 500;

/** Every statement goes on after the last one, so that nothing is held while a client takes its time. */
async function* batches<Row, Entry>(
  read: Read<Row>,
  presented: (row: Row) => Entry,
): AsyncGenerator<Entry[]> {
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await read(last);
    if (rows.length > 0) yield rows.map(presented);
    if (rows.length < BATCH) return;
    last = rows.at(-1) ?? null;
  }
}

/** Those of a user that follow one, by id: it may be gone meanwhile. */
const following = (userId: string, last: { readonly id: string } | null) => ({
  where: last ? { userId, id: { gt: last.id } } : { userId },
  orderBy: { id: 'asc' as const },
  take: BATCH,
});

async function* whole<Row, Entry>(
  read: () => Promise<Row[]>,
  presented: (row: Row) => Entry,
): AsyncGenerator<Entry[]> {
  const rows = await read();
  if (rows.length > 0) yield rows.map(presented);
}

const tenant = { select: { id: true, slug: true, name: true } } as const;

/** Reads what identity holds about one person. */
export class PersonalDataRepository {
  readonly #database: Database;
  readonly #securityMails: Dependencies['securityMails'];

  constructor({ database, securityMails }: Dependencies) {
    this.#database = database;
    this.#securityMails = securityMails;
  }

  /** Notes that the data leave, and tells the person by mail. */
  async noteExport(actor: Actor): Promise<void> {
    await this.#database.$transaction(async (tx) => {
      await note(tx, actor, 'data_exported');
      await this.#securityMails.tell(tx, actor.userId, { kind: 'data_exported' }, actor);
    });
  }

  /** What there is one of; null where the person is gone. */
  async single(userId: string): Promise<Single | null> {
    const user = await this.#database.user.findUnique({
      where: { id: userId },
      include: {
        twoFactor: true,
        recoveryCodes: { select: { usedAt: true } },
        pin: true,
        registration: true,
        deletion: true,
        picture: { select: { createdAt: true } },
      },
    });
    return user && present.single(user);
  }

  /** How each section is read. */
  readersOf(userId: string): { readonly [S in Section]: Reader<S> } {
    const db = this.#database;
    const activity = (where: Prisma.ActivityEntryWhereInput) => this.#activity(where);
    return {
      memberships: () =>
        batches<present.Joined, Entry<'memberships'>>(
          (last) =>
            db.membership.findMany({
              where: { userId, ...(last && { tenantId: { gt: last.tenantId } }) },
              include: { tenant, role: { select: { name: true } }, policies: true },
              orderBy: { tenantId: 'asc' },
              take: BATCH,
            }),
          present.membership,
        ),
      devices: () =>
        batches<Device, Entry<'devices'>>(
          (last) => db.device.findMany(following(userId, last)),
          present.device,
        ),
      sessions: () =>
        batches<Session, Entry<'sessions'>>(
          (last) => db.session.findMany(following(userId, last)),
          present.session,
        ),
      tokens: () =>
        batches<Token, Entry<'tokens'>>(
          (last) => db.token.findMany(following(userId, last)),
          present.token,
        ),
      applications: () =>
        batches<present.Allowed, Entry<'applications'>>(
          (last) =>
            db.consent.findMany({
              where: { userId, ...(last && { clientId: { gt: last.clientId } }) },
              include: { tenant, client: { select: { name: true } } },
              orderBy: { clientId: 'asc' },
              take: BATCH,
            }),
          present.application,
        ),
      previous_passwords: () =>
        batches<PreviousPassword, Entry<'previous_passwords'>>(
          (last) => db.previousPassword.findMany(following(userId, last)),
          ({ createdAt }) => ({ replaced_at: createdAt }),
        ),
      mailed_links: () => whole(() => this.#links({ userId }), present.mailedLink),
      invitations_received: () => whole(() => this.#invitationsTo(userId), present.invitation),
      invitations_made: () => whole(() => this.#links({ inviterId: userId }), present.invitation),
      activity: () => batches(activity({ userId }), present.activity),
      activity_as_administrator: () =>
        batches(activity({ impersonatorId: userId }), present.activityOfOthers),
      activity_of_others: () =>
        batches(activity({ subjectId: userId, userId: { not: userId } }), present.activityOfOthers),
    };
  }

  /** At once: they expire within days, and a limit holds how many are made. */
  #links(where: Prisma.OneTimeTokenWhereInput): Promise<present.Link[]> {
    return this.#database.oneTimeToken.findMany({
      where,
      include: { tenant, role: { select: { name: true } } },
      orderBy: { createdAt: 'asc' },
    });
  }

  /** What was sent to the address of a person who has confirmed it. */
  async #invitationsTo(userId: string): Promise<present.Link[]> {
    const { email, emailVerifiedAt } = await this.#database.user.findUniqueOrThrow({
      where: { id: userId },
    });
    if (email === null || emailVerifiedAt === null) return [];
    return this.#links({ email, purpose: 'invitation' });
  }

  /** In order of time, by the index of whose entries they are. */
  #activity(where: Prisma.ActivityEntryWhereInput): Read<Prisma.ActivityEntryGetPayload<object>> {
    return (last) =>
      this.#database.activityEntry.findMany({
        where: {
          ...where,
          ...(last && {
            createdAt: { gte: last.createdAt },
            OR: [{ createdAt: { gt: last.createdAt } }, { id: { gt: last.id } }],
          }),
        },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: BATCH,
      });
  }
}
