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
  readonly securityMails: Pick<SecurityMails, 'notify'>;
}

/** Reads the entries after the given one; the first entries if null. */
type Read<Row> = (after: Row | null) => Promise<Row[]>;

type Entry<S extends Section> = Entries[S][number];

/** Reads one section in batches. */
type Reader<S extends Section> = () => AsyncGenerator<Entries[S]>;

/** Number of entries per statement. */
const BATCH = 500;

/**
 * Each statement continues after the last entry, so that a slow client holds no database resources.
 */
async function* batches<Row, Entry>(
  read: Read<Row>,
  present: (row: Row) => Entry,
): AsyncGenerator<Entry[]> {
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await read(last);
    if (rows.length > 0) yield rows.map(present);
    if (rows.length < BATCH) return;
    last = rows.at(-1) ?? null;
  }
}

/**
 * Query for a user's next entries by id, which works even if the last one was deleted meanwhile.
 */
const nextBatch = (userId: string, last: { readonly id: string } | null) => ({
  where: last ? { userId, id: { gt: last.id } } : { userId },
  orderBy: { id: 'asc' as const },
  take: BATCH,
});

async function* whole<Row, Entry>(
  read: () => Promise<Row[]>,
  present: (row: Row) => Entry,
): AsyncGenerator<Entry[]> {
  const rows = await read();
  if (rows.length > 0) yield rows.map(present);
}

const tenant = { select: { id: true, slug: true, name: true } } as const;

/** Reads all data that identity stores about one person. */
export class PersonalDataRepository {
  readonly #database: Database;
  readonly #securityMails: Dependencies['securityMails'];

  constructor({ database, securityMails }: Dependencies) {
    this.#database = database;
    this.#securityMails = securityMails;
  }

  /** Records the export and notifies the user by mail. */
  async noteExport(actor: Actor): Promise<void> {
    await this.#database.$transaction(async (tx) => {
      await note(tx, actor, 'data_exported');
      await this.#securityMails.notify(tx, actor.userId, { kind: 'data_exported' }, actor);
    });
  }

  /** The single objects; null if the user does not exist. */
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

  /** The reader of each section. */
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
          (last) => db.device.findMany(nextBatch(userId, last)),
          present.device,
        ),
      sessions: () =>
        batches<Session, Entry<'sessions'>>(
          (last) => db.session.findMany(nextBatch(userId, last)),
          present.session,
        ),
      tokens: () =>
        batches<Token, Entry<'tokens'>>(
          (last) => db.token.findMany(nextBatch(userId, last)),
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
          (last) => db.previousPassword.findMany(nextBatch(userId, last)),
          ({ createdAt }) => ({ replaced_at: createdAt }),
        ),
      mailed_links: () => whole(() => this.#links({ userId }), present.mailedLink),
      invitations_received: () => whole(() => this.#invitationsTo(userId), present.invitation),
      invitations_made: () => whole(() => this.#links({ inviterId: userId }), present.invitation),
      activity: () => batches(activity({ userId }), present.activity),
      activity_as_administrator: () =>
        batches(activity({ impersonatorId: userId }), present.activityAsAdministrator),
      activity_of_others: () =>
        batches(
          activity({ subjectId: userId, OR: [{ userId: null }, { userId: { not: userId } }] }),
          present.activityOfOthers,
        ),
    };
  }

  /** Not batched: links expire within days and their number is limited. */
  #links(where: Prisma.OneTimeTokenWhereInput): Promise<present.Link[]> {
    return this.#database.oneTimeToken.findMany({
      where,
      include: { tenant, role: { select: { name: true } } },
      orderBy: { createdAt: 'asc' },
    });
  }

  /** Invitations sent to the user's address, if it is confirmed. */
  async #invitationsTo(userId: string): Promise<present.Link[]> {
    const { email, emailVerifiedAt } = await this.#database.user.findUniqueOrThrow({
      where: { id: userId },
    });
    if (email === null || emailVerifiedAt === null) return [];
    return this.#links({ email, purpose: 'invitation' });
  }

  /** Ordered by time, using the index of the filtered column. */
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
