import type { Command } from 'commander';
import { exportTenant } from '../tenant-data/export-tenant.ts';
import { examples, type Run } from './run.ts';

/** Commands for all data of a tenant. */
export const addTenantCommands = (program: Command, run: Run): void => {
  program
    .command('export-tenant <tenant> <folder>')
    .description('export a tenant with its members, roles, policies and clients to a new folder')
    .addHelpText(
      'after',
      [
        '\nThe tenant is a slug or an id. Writes a file of JSON lines for each table, and manifest.json, which is',
        'written last. All rows are read in one snapshot, without secrets; the service may run meanwhile.',
        examples('export-tenant acme acme-identity'),
      ].join('\n'),
    )
    .action((tenant: string, folder: string) =>
      run((session) => exportTenant(session, tenant, folder)),
    );
};
