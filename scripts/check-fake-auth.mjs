// `npm run check:fake-auth`: checks that CRM_FAKE_AUTH is false or absent in all configuration files of the
// repository, except files for local development, whose path contains the word `local` (decision C16). Prints
// file and line of each violation. It reads lines and does not parse formats: an unknown notation is a
// violation.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { innocent, planted } from './check-fake-auth.canaries.mjs';
import { isProgram } from './program.mjs';

/** Source code and documentation may mention the variable. */
const isConfiguration = (path) =>
  !/\.(m?[jt]sx?|c[jt]s|md|sql|prisma)$/.test(path) || /\.config\.[cm]?[jt]s$/.test(path);
const isForLocalDevelopment = (path) => /(^|[./_-])local([./_-]|$)/.test(path);

const FLAG = /(?<![\w$]|\$\{)CRM_FAKE_AUTH(?!\w)/g;
const COMMENT = /^\s*(#|\/\/)/;
/** After the name: a comparison. */
const COMPARED = /^["']?\s*[!=]=/;
/** After the name: an assignment of false or "". `ZmFsc2U=` is `false` in a Kubernetes secret. */
const ASSIGNED_FALSE =
  /^["']?[ \t]*(?:[:?+]?=|:)[ \t]*(?:(["']?)(?:false|ZmFsc2U=)\1(?=[\s,;&|)}\]]|$)|(?:""|'')[ \t]*(?=[\r\n,;&|)}\]]|$))/;
/** After the name: `=` and nothing. After `:`, the value of YAML or JSON may follow on the next line. */
const ASSIGNED_NOTHING = /^["']?[ \t]*[:?+]?=[ \t]*(?=[\r\n,;&|)}\]]|$)/;
/** After the name: `value: false`, as charts and Terraform write it. */
const VALUE_FALSE = /^["']?,?\s*["']?value["']?\s*[:=]\s*(["']?)false\1(?![\w-])/;

const isOff = (rest) =>
  [COMPARED, ASSIGNED_FALSE, ASSIGNED_NOTHING, VALUE_FALSE].some((off) => off.test(rest));

/** The lines of a file that may enable fake authentication. */
const violations = (path, text) => {
  if (!isConfiguration(path) || isForLocalDevelopment(path)) return [];
  const found = [...text.matchAll(FLAG)].flatMap(({ index, 0: name }) => {
    const before = text.slice(0, index).split('\n');
    const isHarmless = COMMENT.test(before.at(-1)) || isOff(text.slice(index + name.length));
    return isHarmless ? [] : before.length;
  });
  return [...new Set(found)];
};

/** Every file that git tracks or would track. */
const filesOf = (directory) =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
    .split('\0')
    .filter((path) => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile());

/**
 * Throws if a configuration file enables fake authentication, or if this check misses a planted violation or
 * rejects a correct file.
 */
export const fakeAuthentication = () => {
  for (const [path, lines, text] of [
    ...planted,
    ...innocent.map(([path, text]) => [path, [], text]),
  ]) {
    const found = violations(path, text);
    if (String(found) === String(lines)) continue;
    throw new Error(`${path}: expected violations in [${lines}], found [${found}]:\n${text}`);
  }
  const found = filesOf(root).flatMap((path) =>
    violations(path, readFileSync(join(root, path), 'utf8')).map((line) => `${path}:${line}`),
  );
  if (found.length === 0) return;
  throw new Error(
    `CRM_FAKE_AUTH must be false, except in files for local development ("local" in their path):\n${found.join('\n')}`,
  );
};

if (isProgram(import.meta.url)) {
  try {
    fakeAuthentication();
    console.log(
      'Fake authentication is disabled in all configuration files except those for local development.',
    );
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
