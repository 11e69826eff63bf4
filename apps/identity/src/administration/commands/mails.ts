import type { Command } from 'commander';
import { examples, type Run } from './run.ts';

/** Commands for mails that wait to be sent. */
export const addMailCommands = (program: Command, run: Run): void => {
  const mails = program.command('mails').description('inspect mails that wait, and retry them');
  mails
    .command('status')
    .description('count waiting mails by the domain of their recipients')
    .action(() => run(({ mail }) => mail.backlogByDomain()));
  mails
    .command('retry [domain]')
    .description('send waiting mails now instead of at their next attempt: to a domain, or all')
    .addHelpText('after', examples('mails retry', 'mails retry example.com'))
    .action((domain?: string) => run(async ({ mail }) => ({ retried: await mail.retry(domain) })));
};
