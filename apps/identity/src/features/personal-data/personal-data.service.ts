import { type Exports, unauthenticated } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import type { ReauthenticationService } from '../reauthentication/reauthentication.service.ts';
import type { PersonalDataRepository } from './personal-data.repository.ts';
import { SCHEMA_VERSION, type Section, sectionNames } from './personal-data.schema.ts';

interface Dependencies {
  readonly repository: PersonalDataRepository;
  readonly reauthentication: Pick<ReauthenticationService, 'requireRecent'>;
  readonly exports: Exports;
}

/** Reads something, possibly within a limit. */
type Read = <T>(read: () => Promise<T>) => Promise<T>;

async function* sectionOf(
  repository: PersonalDataRepository,
  userId: string,
  section: Section,
  read: Read,
): AsyncGenerator<string> {
  const entries: AsyncGenerator<readonly object[]> = repository.readersOf(userId)[section]();
  let before = `,${JSON.stringify(section)}:[`;
  for (;;) {
    const { done, value } = await read(() => entries.next());
    if (done) break;
    yield before + value.map((entry) => JSON.stringify(entry)).join(',');
    before = ',';
  }
  yield before === ',' ? ']' : `${before}]`;
}

/** The parts of the JSON document with all data about a user; no part if there is no such user. */
export async function* personalDataDocument(
  repository: PersonalDataRepository,
  userId: string,
  read: Read = (work) => work(),
): AsyncGenerator<string> {
  const single = await read(() => repository.single(userId));
  if (single === null) return;
  const head = { schema_version: SCHEMA_VERSION, exported_at: new Date(), ...single };
  yield JSON.stringify(head).slice(0, -1);
  for (const section of sectionNames) yield* sectionOf(repository, userId, section, read);
  yield '}';
}

/** Exports all data that identity stores about a user, for that user. */
export class PersonalDataService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Streams the export as parts of a JSON document described by `PersonalData`. 403 `reauthentication_required`
   * without a recent authentication. The first part throws 429 if the caller runs too many exports.
   */
  async export(caller: UserCaller, origin: Origin): Promise<AsyncGenerator<string>> {
    await this.#use.reauthentication.requireRecent(caller);
    return this.#use.exports.counted(caller.id, this.#parts(caller, origin));
  }

  async *#parts(caller: UserCaller, origin: Origin): AsyncGenerator<string> {
    const { repository, exports } = this.#use;
    await repository.noteExport(actorOf(caller, origin));
    let isFound = false;
    for await (const part of personalDataDocument(repository, caller.id, (work) =>
      exports.read(caller.id, work),
    )) {
      isFound = true;
      yield part;
    }
    if (!isFound) throw unauthenticated();
  }
}
