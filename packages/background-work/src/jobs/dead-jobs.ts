import type { PgBoss } from 'pg-boss';

/** The name of the queue that the jobs of a kind are moved to after their last attempt. */
export const deadQueue = (job: string): string => `${job}.dead`;

/** A job that failed after all its attempts. Its payload is left out, because administrators must not see it. */
export interface DeadJob {
  readonly id: string;
  readonly job: string;
  readonly enqueued_at: string;
  readonly died_at: string;
  readonly attempts: number;
  readonly error: string;
}

/** Lists, retries and deletes dead jobs, for administrators. */
export class DeadJobs {
  readonly #boss: PgBoss;
  readonly #jobs: ReadonlyMap<string, unknown>;

  /** The keys of `jobs` are the names of all kinds of jobs; kinds may be added later. */
  constructor(boss: PgBoss, jobs: ReadonlyMap<string, unknown>) {
    this.#boss = boss;
    this.#jobs = jobs;
  }

  /** The dead jobs of a kind, or of all kinds. */
  async list(name?: string): Promise<DeadJob[]> {
    const lists = await Promise.all(this.#named(name).map((job) => this.#listOf(job)));
    return lists.flat();
  }

  /** Enqueues dead jobs of a kind again, all of them or those with these ids; returns how many. */
  async retry(name: string, ids?: readonly string[]): Promise<number> {
    const [job = ''] = this.#named(name);
    let moved = 0;
    for (;;) {
      const batch = await this.#boss.redrive(deadQueue(job), ids ? { ids: [...ids] } : {});
      if (batch === 0) return moved;
      moved += batch;
    }
  }

  /** Deletes dead jobs of a kind by id; returns how many there were. */
  async remove(name: string, ids: readonly string[]): Promise<number> {
    const [job = ''] = this.#named(name);
    const present = new Set((await this.#listOf(job)).map(({ id }) => id));
    const found = ids.filter((id) => present.has(id));
    if (found.length > 0) await this.#boss.deleteJob(deadQueue(job), found);
    return found.length;
  }

  #named(name: string | undefined): readonly string[] {
    const names = [...this.#jobs.keys()];
    if (name === undefined) return names;
    if (names.includes(name)) return [name];
    throw new Error(`There is no job called "${name}". Known jobs: ${names.join(', ')}.`);
  }

  async #listOf(job: string): Promise<DeadJob[]> {
    const found = await this.#boss.findJobs(deadQueue(job));
    return found.map(({ id, createdOn, sourceCreatedOn, sourceRetryCount, sourceOutput }) => ({
      id,
      job,
      enqueued_at: (sourceCreatedOn ?? createdOn).toISOString(),
      died_at: createdOn.toISOString(),
      attempts: (sourceRetryCount ?? 0) + 1,
      error: messageIn(sourceOutput),
    }));
  }
}

/** The message of a job's last error. Reasons of the queue itself, such as a missed heartbeat, are nested in `value`. */
const messageIn = (output: object | null): string => {
  const { message, value } = (output ?? {}) as { message?: string; value?: unknown };
  if (message !== undefined) return message;
  const inner = (value ?? {}) as { message?: string };
  return inner.message ?? (typeof value === 'string' ? value : 'unknown');
};
