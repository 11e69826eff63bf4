import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { contactRows, copyRows, type Row } from '@tessera/seeding';
import type { ScaleBench, ScaleScenario } from '../../scale/bench.ts';
import { type Result, UnexpectedResponses } from '../../scenario.ts';

const ROWS = 30_000;
const SMOKE_ROWS = 600;
const POLL_MS = 50;
/** The target of an import of new records, with validation. */
const MIN_ROWS_PER_SECOND = 5000;

const quoted = (cell: string): string =>
  /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

const cellOf = (value: Row[string]): string => {
  if (value === null) return '';
  return quoted(Array.isArray(value) ? JSON.stringify(value) : `${value}`);
};

const csvOf = (rows: readonly Row[]): string => {
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => names.map((name) => cellOf(row[name] ?? null)).join());
  return [names.join(), ...lines].join('\n');
};

interface Import {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  readonly rows_created: number;
  readonly rows_updated: number;
  readonly rows_skipped: number;
}

type Duplicates = 'create' | 'skip' | 'update';

/** Imports a file, and returns the rows per second from the end of the upload to the end of the import. */
const importFile = async (
  { system, large }: ScaleBench,
  file: Blob,
  { duplicates, count }: { readonly duplicates: Duplicates; readonly count: number },
): Promise<number> => {
  const url = `${system.stack.crm.url}/api/crm/imports`;
  const headers = { authorization: `Bearer ${large.token}` };
  const form = new FormData();
  form.append('resource', 'contacts');
  form.append('duplicates', duplicates);
  form.append('file', file, 'contacts.csv');
  const dataOf = async (response: Response): Promise<Import> =>
    ((await response.json()) as { readonly data: Import }).data;
  const sent = await fetch(url, { method: 'POST', headers, body: form });
  if (sent.status !== 201) throw new UnexpectedResponses(`import: ${sent.status}`);
  const { id } = await dataOf(sent);
  const started = performance.now();
  for (;;) {
    const { status, error, ...counts } = await dataOf(await fetch(`${url}/${id}`, { headers }));
    if (status === 'completed') {
      const name = {
        create: 'rows_created',
        skip: 'rows_skipped',
        update: 'rows_updated',
      } as const;
      if (counts[name[duplicates]] !== count) {
        throw new UnexpectedResponses(`import: ${JSON.stringify(counts)}`);
      }
      return count / ((performance.now() - started) / 1000);
    }
    if (status === 'failed') throw new UnexpectedResponses(`import: ${error}`);
    await delay(POLL_MS);
  }
};

/** Loads the same rows into the same table with one COPY, and returns the rows per second. */
const copy = async ({ database, large }: ScaleBench, rows: readonly Row[]): Promise<number> => {
  const client = await database.connect();
  try {
    const started = performance.now();
    await copyRows(
      client,
      'tenant_crm.contacts',
      rows.map((row) => ({ id: randomUUID(), tenant_id: large.tenantId, ...row })),
    );
    return rows.length / ((performance.now() - started) / 1000);
  } finally {
    client.release();
  }
};

/** An import of contacts beside a COPY of the same rows, into the large tenant. The rows are deleted afterwards. */
export const contactImport: ScaleScenario = {
  name: 'import',
  run: async (bench) => {
    const { database, large, options, system } = bench;
    const count = options.smoke ? SMOKE_ROWS : ROWS;
    const mark = randomUUID();
    const rowsOf = (part: string) => contactRows(count, (n) => `${n}.${part}@${mark}.example`);
    const remove = async (): Promise<void> => {
      // Softly: foreign keys would search the referring tables for each row.
      await database.query(
        'UPDATE tenant_crm.contacts SET deleted_at = now() WHERE tenant_id = $1 AND email LIKE $2',
        [large.tenantId, `%@${mark}.example`],
      );
    };
    try {
      const copied = await copy(bench, rowsOf('copied'));
      const rows = rowsOf('imported');
      const file = new Blob([csvOf(rows)], { type: 'text/csv' });
      const results: Result[] = [];
      for (const duplicates of ['create', 'skip', 'update'] as const) {
        const before = [await system.cpu('crm'), await bench.databaseCpu()] as const;
        const rate = await importFile(bench, file, { duplicates, count });
        const cpu = (1000 * ((await system.cpu('crm')) - before[0])) / count;
        const databaseCpu = (1000 * ((await bench.databaseCpu()) - before[1])) / count;
        results.push({
          what: `import of ${count} contacts, duplicates: ${duplicates}`,
          load: {
            rate,
            p50: Number.NaN,
            p99: Number.NaN,
            cpu,
            databaseCpu,
            statuses: {},
            errors: 0,
          },
          ratio: rate / copied,
          remark: `rows/s; COPY of the same rows: ${copied.toFixed(0)} rows/s`,
          ...(duplicates === 'create' && {
            target: {
              text: `≥ ${MIN_ROWS_PER_SECOND} rows/s`,
              isMet: rate >= MIN_ROWS_PER_SECOND,
            },
          }),
        });
      }
      return results;
    } finally {
      await remove();
    }
  },
};
