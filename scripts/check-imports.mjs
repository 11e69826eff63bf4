import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './bootstrap.mjs';

/** File -> an import that must not be in it. */
const planted = [
  ['packages/fields/src/planted.ts', '@tessera/crm'],
  ['packages/http-kit/src/planted.ts', '../../../apps/identity/src/app.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../companies/companies.repository.ts'],
  ['apps/crm/src/features/contacts/planted.ts', '../../context.ts'],
  ['apps/crm/src/features/contacts/planted.ts', 'joi'],
  ['apps/crm/src/features/contacts/planted.ts', '../../../../identity/src/http.ts'],
  ['apps/crm/src/access/planted.ts', '../features/contacts/contacts.routes.ts'],
  ['apps/identity/src/tokens/planted.ts', '../features/sign-in/sign-in.service.ts'],
  ['apps/identity/src/features/members/planted.ts', 'oidc-provider'],
  ['apps/identity/src/features/members/planted.ts', '../sign-in/sign-in.repository.ts'],
  ['apps/identity/src/app.ts', 'oidc-provider'],
  ['apps/identity/src/outbox/planted.ts', 'kafkajs'],
  ['apps/crm/src/context.ts', '@tessera/identity'],
];

/** File -> an import that may be in it. */
const innocent = [
  ['apps/crm/src/features/contacts/innocent.ts', '@tessera/fields'],
  ['apps/crm/src/context.ts', './access/principals.ts'],
  ['apps/identity/src/oauth/innocent.ts', 'oidc-provider'],
];

/** Lints files that hold one import each, beside a copy of the rules; gives the files that are refused. */
const refused = (files) => {
  const directory = mkdtempSync(join(tmpdir(), 'tessera-imports-'));
  try {
    cpSync(join(root, 'biome.json'), join(directory, 'biome.json'));
    for (const [file, module] of files) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      writeFileSync(join(directory, file), `export * from '${module}';\n`);
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const { stdout } = spawnSync(
      process.execPath,
      [biome, 'lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none', '.'],
      { cwd: directory, encoding: 'utf8' },
    );
    const lines = stdout.split('\n').filter((line) => line.includes('noRestrictedImports'));
    return files.filter(([file]) => lines.some((line) => line.includes(file)));
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** Every planted violation is refused, by the rule that is meant, and an innocent import is not. */
export const imports = () => {
  for (const violation of planted) {
    if (refused([violation]).length === 0) {
      throw new Error(`${violation[0]} may import ${violation[1]}: the rule does not hold.`);
    }
  }
  const wronged = refused(innocent);
  if (wronged.length > 0) throw new Error(`Innocent, and refused: ${wronged.join(', ')}`);
};
