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
import { addClientCreation } from './create-clients.ts';
import { examples, type Run } from './run.ts';
import { addClientUpdates } from './update-clients.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DAYS = 90;

/** Milliseconds of `90s`, `30m`, `24h`, `7d` or `0`. */
const duration = (given: string): number => {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const milliseconds = given === '0' ? 0 : Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds <= MAX_DAYS * 86_400_000) return milliseconds;
  throw new InvalidArgumentError(`It must be 0, or like 30m, 24h, 7d, up to ${MAX_DAYS}d.`);
};

/** A command for a client of either kind. */
const ofEither = (program: Command, name: string): Command =>
  program
    .command(`${name} <client_id>`)
    .addOption(
      new Option('--kind <kind>', 'which one, if both kinds have this id').choices(clientKinds),
    );

const addChanges = (program: Command, run: Run): void => {
  ofEither(program, 'rotate-secret')
    .description(
      'give a system application or a confidential client a new secret, which is shown once',
    )
    .addOption(
      new Option('--overlap <time>', 'how long the old secret remains valid; 0 ends it at once')
        .argParser(duration)
        .default(UNITS.d, '24h'),
    )
    .option(
      '--revoke-tokens',
      'also revoke its tokens, for a secret that may have been stolen',
      false,
    )
    .addHelpText(
      'after',
      examples(
        'rotate-secret pipeline                               the old secret is valid for another day',
        'rotate-secret pipeline --overlap 7d',
        'rotate-secret pipeline --overlap 0 --revoke-tokens   the old secret has leaked',
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
    ['disable-client', 'reject it, and revoke its tokens', disableClient],
    ['enable-client', 'accept it again', enableClient],
    ['delete-client', 'delete it and its tokens; this cannot be undone', deleteClient],
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
  addClientCreation(program, run);
  addClientUpdates(program, run);
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
