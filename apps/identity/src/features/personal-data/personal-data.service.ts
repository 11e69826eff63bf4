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
    const single = await exports.read(() => repository.single(caller.id));
    if (single === null) throw unauthenticated();
    const head = { schema_version: SCHEMA_VERSION, exported_at: new Date(), ...single };
    yield JSON.stringify(head).slice(0, -1);
    for (const section of sectionNames) yield* this.#section(caller.id, section);
    yield '}';
  }

  async *#section(userId: string, section: Section): AsyncGenerator<string> {
    const { repository, exports } = this.#use;
    const entries: AsyncGenerator<readonly object[]> = repository.readersOf(userId)[section]();
    let before = `,${JSON.stringify(section)}:[`;
    for (;;) {
      const { done, value } = await exports.read(() => entries.next());
      if (done) break;
      yield before + value.map((entry) => JSON.stringify(entry)).join(',');
      before = ',';
    }
    yield before === ',' ? ']' : `${before}]`;
  }
}
