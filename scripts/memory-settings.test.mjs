import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const FLAG = /--[a-z-]+=\d+/g;

/** The first line of a file that matches. */
const line = (file, pattern) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const found = lines.find((text) => pattern.test(text));
  if (found === undefined) throw new Error(`${file} has no line that matches ${pattern}.`);
  return found;
};

/** How each way to start a service limits the memory of Node. */
const settingsOf = (app) => {
  const unit = `infra/systemd/tessera-${app}.service`;
  const script = line('package.json', new RegExp(`"start:${app}"`));
  const stack = 'packages/local-stack/src/application.ts';
  return {
    image: [
      line(`apps/${app}/Dockerfile`, /^ENTRYPOINT/),
      line(`apps/${app}/Dockerfile`, /^ENV .*MALLOC/),
    ],
    systemd: [line(unit, /^ExecStart=/), line(unit, /MALLOC/)],
    script: [script, script],
    'npm start': [line(stack, new RegExp(`^ +${app}: \\[`)), line(stack, /MALLOC/)],
  };
};

test.each(['identity', 'crm'])('Every way to start %s limits its memory alike', (app) => {
  const [first, ...others] = Object.entries(settingsOf(app)).map(([way, [flags, variables]]) => ({
    way,
    flags: flags.match(FLAG),
    arenas: variables.match(/MALLOC_ARENA_MAX\W+(\d+)/)?.[1],
  }));
  expect(first).toMatchObject({ flags: expect.any(Array), arenas: expect.any(String) });
  for (const other of others) expect(other).toEqual({ ...first, way: other.way });
});
