import { json, text } from 'node:stream/consumers';
import { validate } from '@tessera/fields';
import { Argument, type Command } from 'commander';
import { createAdministrator, listAdministrators } from '../create.ts';
import { changeEmail } from '../email.ts';
import { type Factor, factors, removeFactor } from '../factors.ts';
import { Seed } from '../seed.shape.ts';
import { applySeed } from '../seed.ts';
import { examples, type Run } from './run.ts';

const seedDocument = async (input: NodeJS.ReadableStream) => {
  const given = validate(Seed, await json(input), 'document');
  if (given.ok) return given.value;
  const problems = Object.entries(given.errors).flatMap(([field, messages]) =>
    messages.map((message) => `${field}: ${message}`),
  );
  throw new Error(`Invalid document:\n${problems.join('\n')}`);
};

/** The input without the line break at its end. */
const passwordFrom = async (input: NodeJS.ReadableStream): Promise<string> =>
  (await text(input)).replace(/\r?\n$/, '');

interface AdministratorOptions {
  readonly firstName: string;
  readonly lastName: string;
  readonly passwordStdin?: true;
}

/** Commands for people. */
export const addAccountCommands = (
  program: Command,
  run: Run,
  input: NodeJS.ReadableStream,
): void => {
  program
    .command('seed')
    .description('create what a JSON document on standard input lists and does not exist yet')
    .addHelpText('after', examples('seed < accounts.json'))
    .action(async () => {
      const document = await seedDocument(input);
      await run((session) => applySeed(session, document));
    });

  program
    .command('create-administrator <email>')
    .description('create a system administrator; a password is generated and shown once')
    .requiredOption('--first-name <name>', 'the first name of the administrator')
    .requiredOption('--last-name <name>', 'the last name of the administrator')
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .addHelpText(
      'after',
      examples(
        'create-administrator ada@example.com --first-name Ada --last-name Lovelace',
        'create-administrator ada@example.com --first-name Ada --last-name Lovelace --password-stdin < file',
      ),
    )
    .action(async (email: string, { passwordStdin, ...name }: AdministratorOptions) => {
      const password = passwordStdin && (await passwordFrom(input));
      await run(({ database, passwords }) =>
        createAdministrator(database, passwords, { email, ...name, password }),
      );
    });

  program
    .command('list-administrators')
    .description('show the system administrators')
    .action(() => run(({ database }) => listAdministrators(database)));

  program
    .command('remove-factor <email>')
    .description('remove the second factor or the PIN of somebody who has lost it')
    .addArgument(new Argument('<factor>').choices(factors))
    .addHelpText(
      'after',
      [
        '\nMake sure that it is they who ask: the password alone lets them in afterwards. They are signed',
        'out everywhere.',
        examples('remove-factor ada@example.com pin'),
      ].join('\n'),
    )
    .action((email: string, factor: Factor) =>
      run((session) => removeFactor(session, email, factor)),
    );

  program
    .command('change-email <email> <new_email>')
    .description(
      'change the address of a person, for example because they lost access to the old mailbox',
    )
    .addHelpText(
      'after',
      [
        '\nMake sure that the new address is theirs: it counts as confirmed. Both addresses are notified.',
        examples('change-email ada@example.com ada@example.org'),
      ].join('\n'),
    )
    .action((email: string, newEmail: string) =>
      run((session) => changeEmail(session, email, newEmail)),
    );
};
