// An image with a planted fault for each rule, to test the checks.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from './command.mjs';
import { FILE_RULES, faultsOf, IMAGE_RULES, SIZE_LIMIT } from './contents.mjs';
import { readImage } from './image.mjs';

const key = `-----BEGIN ${'PRIVATE KEY'}-----\n${'MIIEvAIBADANBgkq'.repeat(4)}\n`;

/** By rule: a file as `[path, text, mode]`. */
const FILES = {
  'test file': ['app/dist/planted.test.js'],
  'folder for tests': ['app/dist/testing/planted.js'],
  'source map': ['app/dist/planted.js', '//# sourceMappingURL=data:application/json;base64,e30='],
  'TypeScript source': ['app/src/planted.ts'],
  'environment file or npm settings': ['app/.env.production'],
  'private key': ['app/dist/planted.txt', key],
  'package manager, compiler or shell': ['usr/bin/sh', '', 0o755],
  'repository of git': ['app/.git/planted'],
  'development dependency': ['app/node_modules/typescript/planted.js'],
  'writable by everybody': ['app/dist/writable', '', 0o666],
  'runs with the rights of its owner': ['usr/bin/planted', '', 0o4755],
};

/** By rule: a line of a Dockerfile. */
const LINES = {
  'runs as root': 'USER root',
  'no health check': 'HEALTHCHECK NONE',
  'started through a shell': 'ENTRYPOINT exec node dist/main.js',
  'label missing': 'LABEL org.opencontainers.image.licenses=""',
  'secret in the configuration': 'ENV DATABASE_PASSWORD=planted',
  'too large': 'COPY large /app/',
};

/** Plants every fault in a copy of an image; throws the rules that do not detect theirs. */
export const provePlanted = async (image, { size }, environment) => {
  const unplanted = [...Object.keys(FILE_RULES), ...Object.keys(IMAGE_RULES)].filter(
    (rule) => !(rule in FILES || rule in LINES),
  );
  if (unplanted.length > 0) throw new Error(`No planted fault for: ${unplanted.join(', ')}`);
  const context = mkdtempSync(join(tmpdir(), 'tessera-faults-'));
  const planted = 'tessera/planted-faults';
  try {
    for (const [path, text = '', mode = 0o644] of Object.values(FILES)) {
      const at = join(context, 'files', path);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, text);
      chmodSync(at, mode);
    }
    const large = join(context, 'large');
    writeFileSync(large, '');
    truncateSync(large, SIZE_LIMIT - size + 1);
    const dockerfile = [`FROM ${image}`, 'COPY files /', ...Object.values(LINES)].join('\n');
    writeFileSync(join(context, 'Dockerfile'), dockerfile);
    await run('docker', ['build', '--tag', planted, context], { environment });
    const found = faultsOf(await readImage(planted, environment));
    const finds = (rule, what) =>
      found.some((fault) => fault.rule === rule && (!what || fault.what === what));
    const missed = [
      ...Object.entries(FILES).filter(([rule, [path]]) => !finds(rule, path)),
      ...Object.entries(LINES).filter(([rule]) => !finds(rule)),
    ].map(([rule, what]) => `${rule} (${[what].flat()[0]})`);
    if (missed.length > 0) throw new Error(`Planted faults not detected: ${missed.join(', ')}`);
  } finally {
    rmSync(context, { recursive: true });
    await run('docker', ['image', 'rm', '--force', planted], { environment, isCleaning: true });
  }
};
