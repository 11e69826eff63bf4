import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './bootstrap.mjs';

/** File -> an import that lint must reject: one for each direction of each folder. */
const planted = [
  ['packages/fields/src/planted.ts', '@tessera/crm'],
  ['packages/http-kit/src/planted.ts', '../../../apps/identity/src/app.ts'],
  ['packages/resource-server/src/planted.ts', '../../../apps/crm/src/http.ts'],
  ['packages/resource-server/src/planted.ts', './testing/index.ts'],

  ['apps/crm/src/context.ts', '@tessera/identity'],
  ['apps/crm/src/context.ts', './app.ts'],
  ['apps/crm/src/services.ts', './app.ts'],
  ['apps/crm/src/services.ts', './features/contacts/contacts.routes.ts'],
  ['apps/crm/src/database.ts', './records/records.ts'],
  ['apps/crm/src/http.ts', './features/contacts/contacts.schema.ts'],
  ['apps/crm/src/config.ts', './features/contacts/contacts.schema.ts'],
  ['apps/crm/src/error-examples.ts', './records/records.ts'],
  ['apps/crm/src/row-level-security.ts', './records/records.ts'],
  ['apps/crm/src/document.ts', './cli.ts'],
  ['apps/crm/src/cli.ts', './app.ts'],
  ['apps/crm/src/main.ts', './administration/session.ts'],
  ...['files', 'idempotency', 'records', 'system', 'tables', 'a-new-folder'].flatMap((folder) => [
    [`apps/crm/src/${folder}/planted.ts`, '../features/contacts/contacts.kind.ts'],
    [`apps/crm/src/${folder}/planted.ts`, '../administration/session.ts'],
    [`apps/crm/src/${folder}/planted.ts`, '../services.ts'],
    [`apps/crm/src/${folder}/planted.ts`, '../testing/crm.ts'],
  ]),
  ['apps/crm/src/system/planted.ts', '../records/records.ts'],
  ['apps/crm/src/administration/planted.ts', '../features/contacts/contacts.routes.ts'],
  ['apps/crm/src/administration/planted.ts', '../services.ts'],
  ['apps/crm/src/administration/planted.ts', '../context.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../companies/companies.repository.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../companies/companies.routes.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../../context.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../../services.ts'],
  ['apps/crm/src/features/contacts/planted.ts', 'joi'],
  ['apps/crm/src/features/contacts/planted.ts', '../../../../identity/src/http/route.ts'],

  ['apps/identity/src/main.ts', './administration/session.ts'],
  ['apps/identity/src/app.ts', './main.ts'],
  ['apps/identity/src/app.ts', './features/members/members.repository.ts'],
  ['apps/identity/src/app.ts', 'oidc-provider'],
  ['apps/identity/src/cli.ts', './context.ts'],
  ['apps/identity/src/document.ts', './cli.ts'],
  ['apps/identity/src/services.ts', './pages/pages.ts'],
  ['apps/identity/src/context.ts', './app.ts'],
  ['apps/identity/src/config.ts', './oauth/user/pages.ts'],
  ['apps/identity/src/database.ts', './features/roles/built-in-roles.ts'],
  ['apps/identity/src/features/members/planted.ts', 'oidc-provider'],
  ['apps/identity/src/features/members/planted.ts', '../sign-in/sign-in.repository.ts'],
  ['apps/identity/src/features/members/planted.ts', '../../pages/pages.ts'],
  ['apps/identity/src/features/members/planted.ts', '../../administration/create.ts'],
  ['apps/identity/src/features/members/planted.ts', '../../testing/identity.ts'],
  ['apps/identity/src/pages/account/planted.ts', '../../features/pin/pin.routes.ts'],
  ['apps/identity/src/pages/account/planted.ts', '../../features/profile/profile.repository.ts'],
  ['apps/identity/src/pages/planted.ts', '../context.ts'],
  ['apps/identity/src/pages/planted.ts', '../administration/create.ts'],
  ['apps/identity/src/administration/planted.ts', '../features/roles/roles.routes.ts'],
  ['apps/identity/src/administration/commands/planted.ts', '../../pages/pages.ts'],
  ['apps/identity/src/administration/planted.ts', '../services.ts'],
  ['apps/identity/src/oauth/planted.ts', 'kafkajs'],
  ['apps/identity/src/oauth/user/planted.ts', '../../features/sign-in/sign-in.service.ts'],
  ['apps/identity/src/oauth/planted.ts', '../pages/layout.ts'],
  ['apps/identity/src/access/planted.ts', '../features/sign-in/sign-in.service.ts'],
  ['apps/identity/src/crm/planted.ts', '../features/tenants/tenants.service.ts'],
  ['apps/identity/src/deployment-automation/planted.ts', '../app.ts'],
  ...[
    'activity',
    'background',
    'clients',
    'config',
    'http',
    'lists',
    'mail',
    'origin',
    'outbox',
    'passwords',
    'security',
    'tokens',
    'users',
    'a-new-folder',
  ].flatMap((folder) => [
    [`apps/identity/src/${folder}/planted.ts`, '../features/sign-in/sign-in.service.ts'],
    [`apps/identity/src/${folder}/planted.ts`, '../oauth/request.ts'],
    [`apps/identity/src/${folder}/planted.ts`, '../services.ts'],
  ]),
  ['apps/identity/src/outbox/planted.ts', 'kafkajs'],
];

/** File -> an import that lint must accept. */
const innocent = [
  ['apps/crm/src/context.ts', '@tessera/resource-server'],
  ['apps/crm/src/services.ts', './context.ts'],
  ['apps/crm/src/features/contacts/innocent.ts', '@tessera/fields'],
  ['apps/crm/src/features/contacts/innocent.ts', '../../records/records.ts'],
  ['apps/crm/src/records/innocent.ts', '../system/system-access.ts'],
  ['packages/resource-server/src/gate.test.ts', './testing/index.ts'],
  ['apps/identity/src/app.ts', './pages/pages.ts'],
  ['apps/identity/src/context.ts', './services.ts'],
  ['apps/identity/src/features/members/innocent.ts', '../sign-in/sign-in.service.ts'],
  ['apps/identity/src/features/members/innocent.ts', '../../access/access.ts'],
  ['apps/identity/src/pages/account/innocent.ts', '../../features/pin/pin.schema.ts'],
  ['apps/identity/src/oauth/innocent.ts', 'oidc-provider'],
  ['apps/identity/src/oauth/user/innocent.ts', './pages.ts'],
  ['apps/identity/src/access/innocent.ts', '../oauth/request.ts'],
  ['apps/identity/src/tokens/innocent.ts', '../users/users.ts'],
  ['apps/identity/src/tokens/innocent.test.ts', '../testing/identity.ts'],
];

/** Spread literals, which lint must reject. */
const spreads = ['{ ...{ a: 1 }, b: 2 }', '[...[1, 2], 3]'];
const innocentSpread = '{ ...(Math.random() > 1 && { a: 1 }), b: 2 }';

/**
 * Lints lines of source in a directory of their own, with a copy of the rules.
 * @param {[file: string, line: string][]} sources lines, each with the file that it belongs to
 * @param {string} category the rule, as diagnostics name it
 * @returns the sources that this rule rejects
 */
const refusedBy = (sources, category) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'tessera-lint-')));
  try {
    cpSync(join(root, 'biome.json'), join(directory, 'biome.json'));
    cpSync(join(root, 'scripts/lint'), join(directory, 'scripts/lint'), { recursive: true });
    const files = new Map(sources.map(([file]) => [file, sources.filter(([of]) => of === file)]));
    for (const [file, lines] of files) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      writeFileSync(join(directory, file), lines.map(([, line]) => `${line}\n`).join(''));
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const { stdout } = spawnSync(
      process.execPath,
      [biome, 'lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none', '.'],
      { cwd: directory, encoding: 'utf8' },
    );
    const reports = stdout
      .split('\n')
      .filter((report) => report.includes(category))
      .map((report) => /file=([^,]+),line=(\d+)/.exec(report) ?? []);
    const refused = new Set(
      reports.map(([, file, line]) => `${relative(directory, resolve(directory, file))}:${line}`),
    );
    return sources.filter((source) => {
      const [file] = source;
      const line = files.get(file).indexOf(source) + 1;
      return refused.has(`${file}:${line}`);
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
};

const refusedImports = (imports) => {
  const sources = imports.map(([file, module]) => [file, `export * from '${module}';`]);
  const refused = new Set(refusedBy(sources, 'noRestrictedImports'));
  return imports.filter((_, at) => refused.has(sources[at]));
};

const refusedSpreads = (literals) => {
  const sources = literals.map((literal, at) => [
    `planted-${at}.ts`,
    `export const value = ${literal};`,
  ]);
  const refused = new Set(refusedBy(sources, 'plugin'));
  return literals.filter((_, at) => refused.has(sources[at]));
};

const missing = (all, refused) => all.filter((one) => !refused.includes(one));

/** Checks that our lint rules reject every planted violation and accept correct code. */
export const lintRules = () => {
  for (const [file, module] of missing(planted, refusedImports(planted))) {
    throw new Error(`${file} may import ${module}: lint does not reject it.`);
  }
  for (const literal of missing(spreads, refusedSpreads(spreads))) {
    throw new Error(`${literal} may be written: lint does not reject it.`);
  }
  const wronged = [...refusedImports(innocent), ...refusedSpreads([innocentSpread])];
  if (wronged.length > 0) throw new Error(`Correct code rejected by lint: ${wronged.join(', ')}`);
};
