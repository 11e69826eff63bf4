import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from './bootstrap.mjs';

/** Packages that a program imports statically, itself or through the project's own files. */
const packagesOf = (file, read = (path) => readFileSync(path, 'utf8'), seen = new Set()) => {
  if (seen.has(file)) return [];
  seen.add(file);
  const specifiers = [
    ...read(file).matchAll(/^(?:import|\}|export)[^'"\n]*from '([^']+)'|^import '([^']+)'/gm),
  ].map(([, from, effect]) => from ?? effect);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.')) return packagesOf(join(dirname(file), specifier), read, seen);
    return isBuiltin(specifier) ? [] : [`${file}: ${specifier}`];
  });
};

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const programs = Object.values(scripts).flatMap((script) => script.match(/\S+\.mjs/g) ?? []);

test.each([...new Set(programs)])(
  '%s starts in a clean checkout, where nothing is installed',
  (program) => {
    expect(packagesOf(join(root, program))).toEqual([]);
  },
);

test('an imported package is found, also behind a file of ours', () => {
  const sources = {
    '/a.mjs': "import { x } from './b.mjs';\nimport { join } from 'node:path';",
    '/b.mjs': "import {\n  parse,\n} from 'yaml';\nimport 'tsx';",
  };
  expect(packagesOf('/a.mjs', (path) => sources[path])).toEqual(['/b.mjs: yaml', '/b.mjs: tsx']);
});
