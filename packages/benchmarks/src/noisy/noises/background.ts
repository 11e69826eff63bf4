import { emptyPages } from '../files.ts';
import { aborted, type Noise, type NoisyTenant } from '../noise.ts';
import { dataOf, formOf } from '../sender.ts';

const csv = (text: string) => ({ name: 'noise.csv', type: 'text/csv', content: Buffer.from(text) });

const startImport = async (tenant: NoisyTenant, text: string): Promise<void> => {
  tenant.note(
    await tenant.sender.send({
      method: 'POST',
      url: `${tenant.crm}/api/crm/imports`,
      token: tenant.tokens.owner,
      ...formOf({ resource: 'contacts', duplicates: 'create' }, csv(text)),
    }),
  );
};

const rows = (count: number, from = 0): string =>
  `first_name,last_name\n${Array.from({ length: count }, (_, at) => `Noisy,Row ${from + at}`).join('\n')}\n`;

const ENDPOINTS = 30;

const webhooks: Noise = {
  name: 'noisy-webhooks',
  title: 'CRM: 30 webhook endpoints on unreachable hosts, and an import of 40,000 rows',
  async prepare(tenant) {
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const created = await tenant.sender.send({
        method: 'POST',
        url: `${tenant.crm}/api/crm/webhook-endpoints`,
        token: tenant.tokens.owner,
        json: { url: `https://unreachable-${endpoint}.invalid/hook`, event_types: ['*'] },
      });
      // A limit of endpoints is fine, but without any there is no noise.
      if (created.status === 201) continue;
      if (endpoint === 0) dataOf(created, 'a webhook endpoint');
      return;
    }
  },
  async make(tenant, signal) {
    await startImport(tenant, rows(40_000));
    await aborted(signal);
  },
};

const pages: Noise = {
  name: 'noisy-pdfs',
  title: 'CRM: four PDFs with 60,000 empty pages',
  async make(tenant, signal) {
    for (let file = 0; file < 4; file += 1) {
      const content = emptyPages(60_000, file);
      tenant.note(
        await tenant.sender.send({
          method: 'POST',
          url: `${tenant.crm}/api/crm/documents`,
          token: tenant.tokens.owner,
          ...formOf({}, { name: `${file}.pdf`, type: 'application/pdf', content }),
        }),
      );
    }
    await aborted(signal);
  },
};

/** Almost as many characters as a row may have. */
const CELL = 990_000;
const ROWS = 20;
const COMMAS = `Ada,"${','.repeat(CELL)}"\n`.repeat(ROWS);
const BRACKETS = `Ada,"${'['.repeat(225_000)}${']'.repeat(225_000)}"\n`.repeat(ROWS);

const cells: Noise = {
  name: 'noisy-cells',
  title: 'CRM: imports of rows whose cells have a million commas or 450,000 brackets',
  async make(tenant, signal) {
    while (!signal.aborted) {
      await startImport(tenant, `first_name,tags\n${COMMAS}`);
      await startImport(tenant, `first_name,emails\n${BRACKETS}`);
      await aborted(signal, 1000);
    }
  },
};

const imports: Noise = {
  name: 'noisy-imports',
  title: 'CRM: four large imports of one tenant',
  async make(tenant, signal) {
    for (let file = 0; file < 4; file += 1) await startImport(tenant, rows(60_000, file * 60_000));
    await aborted(signal);
  },
};

export const backgroundNoises: readonly Noise[] = [webhooks, pages, cells, imports];

/** Whether the service accepts requests of the noisy tenant at all. */
export const requireAccess = async (tenant: NoisyTenant): Promise<void> => {
  const url = `${tenant.crm}/api/crm/contacts`;
  dataOf(await tenant.sender.send({ url, token: tenant.tokens.owner }), 'the noisy tenant');
};
