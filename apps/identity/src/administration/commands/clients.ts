import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type ClientRef,
  clientKinds,
  deleteClient,
  disableClient,
  enableClient,
  listClients,
  listSystemApplications,
  rotateSecret,
} from '../clients.ts';
import { createClient, createSystemApplication } from '../create.ts';
import { completeTenantClients } from '../tenant-clients.ts';
import { updateClient } from '../update-client.ts';
import { examples, type Run } from './run.ts';

interface ClientOptions {
  readonly name: string;
  readonly redirectUri: string[];
  readonly public?: boolean;
  readonly trusted: boolean;
  readonly firstParty: boolean;
  readonly tenant?: string;
  readonly scope?: string[];
}

const THIRD_PARTY_SCOPES =
  'permissions that a third-party client may ask for, by pattern; give it once for each';

const addCreation = (program: Command, run: Run): void => {
  program
    .command('create-system-application <client_id> <scope...>')
    .description('create a client of POST /api/oauth/token; its secret is shown once')
    .requiredOption('--name <name>')
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
        run(({ database }) =>
          createSystemApplication(database, {
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
    .option('--confidential', 'it can keep a secret (default)')
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
      run(({ database }) =>
        createClient(database, {
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

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DAYS = 90;

/** Milliseconds of `90s`, `30m`, `24h`, `7d` or `0`. */
const duration = (given: string): number => {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const milliseconds = given === '0' ? 0 : Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds <= MAX_DAYS * 86_400_000) return milliseconds;
  throw new InvalidArgumentError(`It must be 0, or like 30m, 24h, 7d, up to ${MAX_DAYS}d.`);
};

interface ClientChange {
  readonly name?: string;
  readonly redirectUri?: string[];
  /** `true` if the option is given without a value. */
  readonly scope?: string[] | true;
  readonly firstParty?: boolean;
}

const addUpdates = (program: Command, run: Run): void => {
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
      return run(({ database }) =>
        // Without a pattern the option is a flag.
        updateClient(database, {
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

/** A command for a client of either kind. */
const ofEither = (program: Command, name: string): Command =>
  program
    .command(`${name} <client_id>`)
    .addOption(
      new Option('--kind <kind>', 'where both kinds have the id: which one').choices(clientKinds),
    );

const addChanges = (program: Command, run: Run): void => {
  ofEither(program, 'rotate-secret')
    .description(
      'give a system application or a confidential client a new secret, which is shown once',
    )
    .option(
      '--overlap <time>',
      'how long the old one is good as well; 0: not at all',
      duration,
      UNITS.d,
    )
    .option('--revoke-tokens', 'also end its tokens, if the old secret may have been stolen', false)
    .addHelpText(
      'after',
      examples(
        'rotate-secret pipeline                             the old one is good for a day',
        'rotate-secret pipeline --overlap 7d',
        'rotate-secret pipeline --overlap 0 --revoke-tokens   the old one has leaked',
      ),
    )
    .action(
      (
        clientId: string,
        given: Pick<ClientRef, 'kind'> & { overlap: number; revokeTokens: boolean },
      ) =>
        run(({ database }) =>
          rotateSecret(database, {
            clientId,
            kind: given.kind,
            overlapMs: given.overlap,
            revokeTokens: given.revokeTokens,
          }),
        ),
    );

  const changes = [
    ['disable-client', 'let nobody in with it any more, and end its tokens', disableClient],
    ['enable-client', 'let it in again', enableClient],
    ['delete-client', 'delete it with its tokens; this cannot be undone', deleteClient],
  ] as const;
  for (const [name, description, change] of changes) {
    ofEither(program, name)
      .description(`a system application or a client: ${description}`)
      .addHelpText('after', examples(`${name} pipeline`))
      .action((clientId: string, { kind }: Pick<ClientRef, 'kind'>) =>
        run(({ database }) => change(database, { clientId, kind })),
      );
  }
};

/** Commands for clients of both kinds. */
export const addClientCommands = (program: Command, run: Run): void => {
  addCreation(program, run);
  addUpdates(program, run);
  program
    .command('list-system-applications')
    .description('show the clients of POST /api/oauth/token')
    .action(() => run(({ database }) => listSystemApplications(database)));
  program
    .command('list-clients')
    .description('show the clients of GET /oauth/authorize')
    .action(() => run(({ database }) => listClients(database)));
  addChanges(program, run);
};
