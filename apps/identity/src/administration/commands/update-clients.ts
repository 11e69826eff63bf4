import type { Command } from 'commander';
import { completeTenantClients } from '../tenant-clients.ts';
import { updateClient } from '../update-client.ts';
import { THIRD_PARTY_SCOPES } from './create-clients.ts';
import { examples, type Run } from './run.ts';

interface ClientChange {
  readonly name?: string;
  readonly redirectUri?: string[];
  /** `true` if the option is given without a value. */
  readonly scope?: string[] | true;
  readonly firstParty?: boolean;
}

/** Commands that change clients of `GET /oauth/authorize`. */
export const addClientUpdates = (program: Command, run: Run): void => {
  program
    .command('update-client <client_id>')
    .description(
      'change the name, the redirect URIs, the scopes or the kind of a client of GET /oauth/authorize',
    )
    .option('--name <name>', 'the name on the consent page')
    .option(
      '--redirect-uri <uri...>',
      'where codes are sent, exactly; those given replace all that it has',
    )
    .option(
      '--scope [pattern...]',
      `${THIRD_PARTY_SCOPES}; those given, or none, replace all that it has`,
    )
    .option('--first-party', 'part of the platform: it may act as the user in everything')
    .option('--no-first-party', 'a third-party client from now on; its tokens end')
    .addHelpText('after', '\nGive at least one option. What is not given stays as it is.')
    .addHelpText(
      'after',
      examples(
        'update-client admin-panel --redirect-uri https://panel.example.com/callback',
        'update-client reporting --scope "tenant.*.crm.contacts.*" "tenant.*.crm.tasks.view"',
        'update-client intranet --first-party',
        'update-client mobile-app --name "Mobile app" --redirect-uri com.example.mobile:/callback',
      ),
    )
    .action((clientId: string, given: ClientChange) => {
      const { name, redirectUri: redirectUris, scope, firstParty: isFirstParty } = given;
      return run((session) =>
        // Without a pattern the option is a flag.
        updateClient(session, {
          clientId,
          name,
          redirectUris,
          allowedScopes: scope && [scope].flat().filter((one) => typeof one === 'string'),
          isFirstParty,
        }),
      );
    });

  program
    .command('complete-tenant-clients')
    .description('create the client of every tenant that has none')
    .addHelpText(
      'after',
      [
        '\nClients of tenants that have no redirect URI get those of TENANT_CLIENT_REDIRECT_URIS. The secret of a',
        'client that this creates is not shown: rotate-secret gives it a new one.',
        examples('complete-tenant-clients', 'rotate-secret tenant-acme --overlap 0'),
      ].join('\n'),
    )
    .action(() =>
      run(({ database, tenantRedirectUris }) =>
        completeTenantClients(database, tenantRedirectUris),
      ),
    );
};
