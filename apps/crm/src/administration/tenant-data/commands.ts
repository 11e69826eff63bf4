import type { Command } from 'commander';
import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { openExistingStore } from '../existing-store.ts';
import { uuidArgument } from '../uuid-argument.ts';
import { deleteTenant, requireFiles } from './delete-tenant.ts';
import { exportTenant } from './export-tenant.ts';
import { requireInactive } from './inactive-tenant.ts';

type Run = (
  work: (session: { readonly config: Config; readonly pool: Pool }) => Promise<object>,
) => Promise<void>;

interface DeletionChoices {
  readonly unchecked: boolean;
  readonly filesLost: boolean;
}

/** Adds the commands for all data of a tenant. */
export const addTenantCommands = (program: Command, run: Run): void => {
  program
    .command('export-tenant')
    .description('export all data and files of a tenant to a new folder')
    .argument('<tenant>', 'the id of the tenant', uuidArgument)
    .argument('<folder>', 'a folder that does not exist or is empty')
    .addHelpText(
      'after',
      [
        '\nWrites a file of JSON lines for each table, the files as they were uploaded, and manifest.json, which',
        'is written last. All rows are read in one snapshot, without secrets; the service may run meanwhile.',
        '\nExamples:\n  $ crm-admin export-tenant 01980a5d-ac96-774b-bcce-b302099a8057 acme',
      ].join('\n'),
    )
    .action((tenantId: string, folder: string) =>
      run(async ({ config }) =>
        exportTenant({
          directUrl: config.database.directUrl,
          store: await openExistingStore(config),
          tenantId,
          folder,
        }),
      ),
    );
  program
    .command('delete-tenant')
    .description('delete everything that CRM has of a tenant, for good')
    .argument('<tenant>', 'the id of the tenant', uuidArgument)
    .requiredOption('--yes', 'confirm that nothing can be restored, except from a backup')
    .option('--unchecked', 'do not ask identity whether the tenant is active', false)
    .option(
      '--files-lost',
      'continue although the store has none of the files of the tenant',
      false,
    )
    .addHelpText(
      'after',
      [
        '\nSuspend or delete the tenant in identity first. The command can be interrupted and run again.',
        'It deletes nothing if the database names files and the store has none of them: then it is another store.',
        '\nExamples:\n  $ crm-admin delete-tenant 01980a5d-ac96-774b-bcce-b302099a8057 --yes',
      ].join('\n'),
    )
    .action((tenantId: string, { unchecked, filesLost }: DeletionChoices) =>
      run(async ({ config, pool }) => {
        if (!unchecked) await requireInactive(config, tenantId);
        const deletion = { pool, store: await openExistingStore(config), tenantId };
        if (!filesLost) await requireFiles(deletion);
        return deleteTenant(deletion);
      }),
    );
};
