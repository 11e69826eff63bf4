import { type Command, Option } from 'commander';
import { createClient, createSystemApplication } from '../create.ts';
import { examples, type Run } from './run.ts';

/** The help of `--scope`. */
export const THIRD_PARTY_SCOPES =
  'permissions that a third-party client may ask for, by pattern; give it once for each';

interface ClientOptions {
  readonly name: string;
  readonly redirectUri: string[];
  readonly public?: boolean;
  readonly trusted: boolean;
  readonly firstParty: boolean;
  readonly tenant?: string;
  readonly scope?: string[];
}

/** Commands that create clients of both kinds. */
export const addClientCreation = (program: Command, run: Run): void => {
  program
    .command('create-system-application <client_id> <scope...>')
    .description('create a client of POST /api/oauth/token; its secret is shown once')
    .requiredOption('--name <name>', 'the name in lists of clients')
    .option('--resource-server', 'it can introspect the tokens of users', false)
    .addHelpText(
      'after',
      examples(
        'create-system-application reports "tenant.*.crm.*.view" --name Reports --resource-server',
        'create-system-application pipeline identity.tenants.versions.update "tenant.*.crm.contacts.*" --name "CI pipeline"',
      ),
    )
    .action(
      (
        clientId: string,
        scopes: string[],
        { name, resourceServer }: { name: string; resourceServer: boolean },
      ) =>
        run((session) =>
          createSystemApplication(session, {
            clientId,
            name,
            scopes,
            isResourceServer: resourceServer,
          }),
        ),
    );

  program
    .command('create-client <client_id>')
    .description('create a client of GET /oauth/authorize; its secret is shown once')
    .requiredOption('--name <name>', 'the name on the consent page')
    .requiredOption(
      '--redirect-uri <uri...>',
      'where codes are sent, exactly; give it once for each',
    )
    .option('--confidential', 'it can keep a secret; the default')
    .addOption(
      new Option('--public', 'without a secret: for browsers and phones').conflicts('confidential'),
    )
    .option('--trusted', 'users are not asked for consent', false)
    .option('--first-party', 'part of the platform: it may act as the user in everything', false)
    .addOption(
      new Option('--tenant <slug>', 'the tenant whose client it is').conflicts('firstParty'),
    )
    .addOption(
      new Option('--scope <pattern...>', THIRD_PARTY_SCOPES).conflicts(['firstParty', 'tenant']),
    )
    .addHelpText(
      'after',
      examples(
        'create-client admin-panel --name "Admin panel" --trusted --first-party --redirect-uri https://panel.example.com/callback',
        'create-client reporting --name "Reporting" --redirect-uri https://reporting.example.com/callback --scope "tenant.*.crm.contacts.view"',
        'create-client mobile-app --name "Mobile app" --public --trusted --first-party --redirect-uri com.example.mobile:/callback',
      ),
    )
    .action((clientId: string, { public: isPublic = false, ...given }: ClientOptions) =>
      run((session) =>
        createClient(session, {
          clientId,
          name: given.name,
          redirectUris: given.redirectUri,
          isPublic,
          isTrusted: given.trusted,
          isFirstParty: given.firstParty,
          tenantSlug: given.tenant,
          allowedScopes: given.scope ?? [],
        }),
      ),
    );
};
