import { randomBytes, randomUUID } from 'node:crypto';
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

/** A file, and what becomes of its rows. */
interface ImportedFile {
  readonly what: string;
  readonly file: Blob;
  readonly duplicates: 'create' | 'skip' | 'update';
  /** The number that has to be that of the rows. */
  readonly counted: 'rows_created' | 'rows_skipped' | 'rows_updated';
}

/** What some work took. */
interface Measured {
  readonly seconds: number;
  /** CPU seconds of CRM. */
  readonly cpu: number;
  /** CPU seconds of PostgreSQL. */
  readonly databaseCpu: number;
}

const measure = async (
  { system, databaseCpu }: ScaleBench,
  work: () => Promise<void>,
): Promise<Measured> => {
  const [cpu, ofDatabase] = [await system.cpu('crm'), await databaseCpu()];
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  return {
    seconds,
    cpu: (await system.cpu('crm')) - cpu,
    databaseCpu: (await databaseCpu()) - ofDatabase,
  };
};

/** Imports a file; returns what the upload took, and what the import took from then on. */
const importFile = async (
  bench: ScaleBench,
  { file, duplicates, counted }: ImportedFile,
  count: number,
): Promise<{ readonly upload: Measured; readonly run: Measured }> => {
  const { system, large } = bench;
  const url = `${system.stack.crm.url}/api/crm/imports`;
  const headers = { authorization: `Bearer ${large.token}` };
  const form = new FormData();
  form.append('resource', 'contacts');
  form.append('duplicates', duplicates);
  form.append('file', file, 'contacts.csv');
  const dataOf = async (response: Response): Promise<Import> =>
    ((await response.json()) as { readonly data: Import }).data;
  let id = '';
  const upload = await measure(bench, async () => {
    const sent = await fetch(url, { method: 'POST', headers, body: form });
    if (sent.status !== 201) throw new UnexpectedResponses(`import: ${sent.status}`);
    ({ id } = await dataOf(sent));
  });
  const run = await measure(bench, async () => {
    for (;;) {
      const { status, error, ...counts } = await dataOf(await fetch(`${url}/${id}`, { headers }));
      if (status === 'completed') {
        if (counts[counted] === count) return;
        throw new UnexpectedResponses(`import: ${JSON.stringify(counts)}`);
      }
      if (status !== 'pending' && status !== 'running') {
        throw new UnexpectedResponses(`import: ${status}: ${error}`);
      }
      await delay(POLL_MS);
    }
  });
  return { upload, run };
};

/** Loads rows of the same kind into the same table with one COPY. */
const copy = (bench: ScaleBench, rows: readonly Row[]): Promise<Measured> =>
  measure(bench, async () => {
    const client = await bench.database.connect();
    try {
      await copyRows(
        client,
        'tenant_crm.contacts',
        rows.map((row) => ({ id: randomUUID(), tenant_id: bench.large.tenantId, ...row })),
      );
    } finally {
      client.release();
    }
  });

/** An import of contacts between two COPY of such rows, into the large tenant. The rows are deleted afterwards. */
export const contactImport: ScaleScenario = {
  name: 'import',
  run: async (bench) => {
    const { database, large, options } = bench;
    const count = options.smoke ? SMOKE_ROWS : ROWS;
    // Email addresses of a usual length: the search index grows with each character.
    const mark = randomBytes(4).toString('hex');
    const rowsOf = (part: string) => contactRows(count, (n) => `${n}.${part}@${mark}.example`);
    const csvFile = (rows: readonly Row[]) => new Blob([csvOf(rows)], { type: 'text/csv' });
    const fileOf = (part: string) => csvFile(rowsOf(part));
    const remove = async (): Promise<void> => {
      await database.query(
        'UPDATE tenant_crm.contacts SET deleted_at = now() WHERE tenant_id = $1 AND email LIKE $2',
        [large.tenantId, `%@${mark}.example`],
      );
    };
    try {
      // Neither side is measured cold.
      await copy(bench, rowsOf('first-copy'));
      const creating = { duplicates: 'create', counted: 'rows_created' } as const;
      await importFile(bench, { ...creating, what: 'first', file: fileOf('first-import') }, count);
      const rows = rowsOf('imported');
      const file = csvFile(rows);
      // Rows that change nothing are skipped.
      const changes = csvFile(rows.map((row) => ({ ...row, first_name: `${row.first_name} 2` })));
      const files: readonly ImportedFile[] = [
        { ...creating, what: 'create', file },
        { ...creating, what: 'skip, all new', file: fileOf('new'), duplicates: 'skip' },
        { what: 'skip, none new', file, duplicates: 'skip', counted: 'rows_skipped' },
        { what: 'update', file: changes, duplicates: 'update', counted: 'rows_updated' },
      ];
      const copies = [await copy(bench, rowsOf('copied-before'))];
      const imports: (Awaited<ReturnType<typeof importFile>> & Pick<ImportedFile, 'what'>)[] = [];
      for (const one of files) {
        imports.push({ what: one.what, ...(await importFile(bench, one, count)) });
        if (one.what === 'create') copies.push(await copy(bench, rowsOf('copied-after')));
      }
      const copying = (of: keyof Measured): number =>
        copies.reduce((sum, one) => sum + one[of], 0) / copies.length / count;
      return imports.map(({ what, upload, run }): Result => {
        const rate = count / run.seconds;
        const withUpload = count / (upload.seconds + run.seconds);
        return {
          what: `import of ${count} contacts, duplicates: ${what}`,
          load: {
            rate,
            p50: Number.NaN,
            p99: Number.NaN,
            cpu: (1000 * run.cpu) / count,
            databaseCpu: (1000 * run.databaseCpu) / count,
            statuses: {},
            errors: 0,
          },
          ratio: rate * copying('seconds'),
          remark: `rows/s, ${withUpload.toFixed(0)} with the upload; COPY ${(1 / copying('seconds')).toFixed(0)} rows/s, DB ${(1000 * copying('databaseCpu')).toFixed(3)} ms`,
          ...(what === 'create' && {
            target: {
              text: `≥ ${MIN_ROWS_PER_SECOND} rows/s`,
              isMet: rate >= MIN_ROWS_PER_SECOND,
            },
          }),
        };
      });
    } finally {
      await remove();
    }
  },
};
