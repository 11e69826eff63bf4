import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './bootstrap.mjs';

/** File -> an import that lint must reject. */
const planted = [
  ['packages/fields/src/planted.ts', '@tessera/crm'],
  ['packages/http-kit/src/planted.ts', '../../../apps/identity/src/app.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../companies/companies.repository.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../../context.ts'],
  ['apps/crm/src/features/contacts/planted.ts', 'joi'],
  ['apps/crm/src/features/contacts/planted.ts', '../../../../identity/src/http/route.ts'],
  ['packages/resource-server/src/planted.ts', '../../../apps/crm/src/http.ts'],
  ['packages/resource-server/src/planted.ts', './testing/index.ts'],
  ['apps/identity/src/tokens/planted.ts', '../features/sign-in/sign-in.service.ts'],
  ['apps/identity/src/features/members/planted.ts', 'oidc-provider'],
  ['apps/identity/src/features/members/planted.ts', '../sign-in/sign-in.repository.ts'],
  ['apps/identity/src/app.ts', 'oidc-provider'],
  ['apps/identity/src/outbox/planted.ts', 'kafkajs'],
  ['apps/crm/src/context.ts', '@tessera/identity'],
];

/** File -> an import that lint must accept. */
const innocent = [
  ['apps/crm/src/features/contacts/innocent.ts', '@tessera/fields'],
  ['apps/crm/src/context.ts', '@tessera/resource-server'],
  ['packages/resource-server/src/gate.test.ts', './testing/index.ts'],
  ['apps/identity/src/oauth/innocent.ts', 'oidc-provider'],
];

/** Spread literals, which lint must reject. */
const spreads = ['{ ...{ a: 1 }, b: 2 }', '[...[1, 2], 3]'];
const innocentSpread = '{ ...(Math.random() > 1 && { a: 1 }), b: 2 }';

/**
 * Lints files in a directory of their own, beside a copy of the rules.
 * @param {[file: string, source: string][]} files
 * @param {string} category the rule, as diagnostics name it
 * @returns the files that this rule refuses
 */
const refusedBy = (files, category) => {
  const directory = mkdtempSync(join(tmpdir(), 'tessera-lint-'));
  try {
    cpSync(join(root, 'biome.json'), join(directory, 'biome.json'));
    cpSync(join(root, 'scripts/lint'), join(directory, 'scripts/lint'), { recursive: true });
    for (const [file, source] of files) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      writeFileSync(join(directory, file), source);
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const { stdout } = spawnSync(
      process.execPath,
      [biome, 'lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none', '.'],
      { cwd: directory, encoding: 'utf8' },
    );
    const lines = stdout.split('\n').filter((line) => line.includes(category));
    return files.map(([file]) => file).filter((file) => lines.some((line) => line.includes(file)));
  } finally {
    rmSync(directory, { recursive: true });
  }
};

const refusedImports = (imports) =>
  refusedBy(
    imports.map(([file, module]) => [file, `export * from '${module}';\n`]),
    'noRestrictedImports',
  );

const refusedSpreads = (literals) =>
  refusedBy(
    literals.map((literal, at) => [`planted-${at}.ts`, `export const value = ${literal};\n`]),
    'plugin',
  );

/** Checks that our lint rules reject every planted violation and accept correct code. */
export const lintRules = () => {
  for (const violation of planted) {
    if (refusedImports([violation]).length === 0) {
      throw new Error(`${violation[0]} may import ${violation[1]}: lint does not reject it.`);
    }
  }
  for (const literal of spreads) {
    if (refusedSpreads([literal]).length === 0) {
      throw new Error(`${literal} may be written: lint does not reject it.`);
    }
  }
  const wronged = [...refusedImports(innocent), ...refusedSpreads([innocentSpread])];
  if (wronged.length > 0)
    throw new Error(`Correct imports rejected by lint: ${wronged.join(', ')}`);
};
