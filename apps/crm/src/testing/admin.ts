import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { nodeArguments, testedFrom } from '@tessera/local-stack';

/** What `crm-admin` works on: a test's CRM, or only its database. */
export interface AdministeredCrm {
  readonly context: { readonly config: { readonly database: { readonly url: string } } };
  readonly identity: { readonly url: string };
}

type Environment = Readonly<Record<string, string>>;

/** Starts `crm-admin` in a process of its own on a test's database. */
export const startAdmin = (
  crm: AdministeredCrm,
  args: readonly string[],
  environment: Environment = {},
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [...nodeArguments('crm', 'cli', testedFrom), '--json', ...args], {
    env: {
      ...process.env,
      DATABASE_URL: crm.context.config.database.url,
      IDENTITY_URL: crm.identity.url,
      ...environment,
    },
  });

/** Runs `crm-admin` in a process of its own on a test's database; returns its exit code and what it printed. */
export const runAdmin = async (
  crm: AdministeredCrm,
  args: readonly string[],
  environment: Environment = {},
) => {
  const child = startAdmin(crm, args, environment);
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, output: JSON.parse(out || error) };
};
