import { Readable } from 'node:stream';
import { createProgram } from './program.ts';

const { commands } = createProgram(() => Promise.reject(new Error('There is no database.')), {
  input: Readable.from([]),
  print: () => undefined,
});
const helpOf = (name: string): string =>
  commands.find((command) => command.name() === name)?.helpInformation() ?? '';

describe('the help of identity-admin', () => {
  test.each([
    ['create-client', '<client_id> --name <name> --redirect-uri <uri...> [options]'],
    ['create-system-application', '<client_id> <scope...> --name <name> [options]'],
    ['create-administrator', '<email> --first-name <name> --last-name <name> [options]'],
    ['update-client', '<client_id> [options]'],
    ['delete-user', '<user> --yes [options]'],
  ])('names what %s requires', (name, usage) => {
    expect(helpOf(name)).toContain(`Usage: identity-admin ${name} ${usage}\n`);
  });

  test('describes every option of every command', () => {
    for (const command of commands) {
      for (const { flags, description } of command.options) {
        expect([command.name(), flags, description]).toEqual([
          command.name(),
          flags,
          expect.stringMatching(/\w/),
        ]);
      }
    }
  });

  test('marks `--name` as required where it is, and as optional where it is not', () => {
    expect(helpOf('create-client')).toMatch(/--name <name> .*\(required\)/);
    expect(helpOf('create-system-application')).toMatch(/--name <name> .*\(required\)/);
    expect(helpOf('update-client')).toMatch(/--name <name> .*\(optional\)/);
  });

  test('shows defaults as they are entered', () => {
    expect(helpOf('rotate-secret')).toMatch(/--overlap <time> [^(]*\(default:\s+24h\)/);
  });
});
