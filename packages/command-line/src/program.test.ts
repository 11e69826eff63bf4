import type { Command } from 'commander';
import { Option } from 'commander';
import { createCommandLine } from './index.ts';

const programWith = (add: (program: Command) => Command): Command => {
  const { program } = createCommandLine<object>({
    name: 'things-admin',
    description: 'Administers things.',
    help: '',
    inSession: (work) => work({}),
    print: () => undefined,
  });
  add(program);
  return program;
};

describe('the help of a command', () => {
  const program = programWith((all) =>
    all
      .command('make <id> [more...]')
      .requiredOption('--name <name>', 'its name')
      .requiredOption('--uri <uri...>', 'its addresses')
      .requiredOption('--yes')
      .option('--color <color>', 'its color')
      .option('--count <number>', 'how many', '3')
      .option('--fast', 'hurry', false)
      .addOption(new Option('--kind <kind>', 'which one').choices(['a', 'b']))
      .addOption(new Option('--wait <time>', 'how long').default(60_000, '1m')),
  );
  const help = program.commands[0]?.helpInformation() ?? '';
  const lines = help.split('\n').map((line) => line.trim().replace(/ {2,}/, '  '));

  test('names the required options in the usage, after the arguments', () => {
    expect(lines).toContain(
      'Usage: things-admin make <id> [more...] --name <name> --uri <uri...> --yes [options]',
    );
  });

  test('says of each option whether it is required or optional, or its default', () => {
    expect(lines).toEqual(
      expect.arrayContaining([
        '--name <name>  its name (required)',
        '--uri <uri...>  its addresses (required)',
        '--yes  (required)',
        '--color <color>  its color (optional)',
        '--count <number>  how many (default: "3")',
        '--fast  hurry (default: false)',
        '--kind <kind>  which one (choices: "a", "b") (optional)',
        '--wait <time>  how long (default: 1m)',
        '-h, --help  display help for command',
      ]),
    );
  });

  test('includes the options of the program', () => {
    expect(help).toContain('--json');
    expect(program.helpInformation()).toContain('Usage: things-admin [command] [options]');
  });
});
