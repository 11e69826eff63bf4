// Bundles the programs of a service from its build: a few large files load in less than half the CPU time of two
// thousand modules.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bootstrap.mjs';

/**
 * Packages that stay outside, because they find files of their own beside their code (native modules, WebAssembly, the
 * modules of threads) or import CommonJS modules of their own dynamically (OpenTelemetry). So do large tables: the bundle
 * would keep in memory those of iconv-lite, which reads each when it is needed, and a second copy of mime-db, which
 * packages outside read too. Packages that are imported dynamically stay outside in any case: see `isOutside`.
 */
const OUTSIDE =
  /^(@opentelemetry\/(?!api)[^/]+|@prisma\/client|bcrypt|iconv-lite|mime-db|pino|piscina|sharp)(\/|$)/;
/** What CommonJS modules find their files by. They would be undefined in the bundle. */
const PLACES = { __dirname: 'directoryOfTheModule', __filename: 'fileOfTheModule' };

/**
 * What each file of a bundle begins with: `require` for the CommonJS modules in it, and the URL of a module in it. (nft would
 * take a literal `new URL(..., import.meta.url)` for a file that is read.)
 */
const BEGINNING = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);
const urlOfModule = (path) => new URL(path, import.meta.url).href;`;

/** What follows `new URL(` in a module that finds a file by its own URL: a literal, or the beginning of a template. */
const FILE_BESIDE =
  /new URL\(\s*['"`](\.[^'"`$]*\/[^'"`$]*)(?:\$[^`]*)?['"`],\s*import\.meta\.url/g;

/** The declaration of a class of errors. */
const CLASS_OF_ERRORS = /\bclass (\w+) extends [\w.$]*(?:Error|Exception)\s*\{/g;

/**
 * Keeps what modules in a bundle know of themselves. `import.meta.url` stays the URL of the module, relative to the bundle, so
 * that it finds the files beside it; these files, or their folders, are added to `besides`. Classes of errors keep their
 * names, which are in logs, when the bundler renames them. (Its own option for that slows down all functions.)
 */
const keepingIdentity = (output, besides) => ({
  name: 'keeping-identity',
  setup(build) {
    build.onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      for (const [, file] of source.matchAll(FILE_BESIDE)) besides.add(join(dirname(path), file));
      const url = `urlOfModule(${JSON.stringify(relative(output, path))})`;
      const contents = source
        .replaceAll('import.meta.url', url)
        .replace(
          CLASS_OF_ERRORS,
          "$& static { Object.defineProperty(this, 'name', { value: '$1', configurable: true }); }",
        );
      return { contents, loader: 'js' };
    });
  },
});

/**
 * Whether a package stays outside. A dynamic import of CommonJS in a bundle has no named exports, so these stay outside as
 * well. One of them is oidc-provider, which stores the names of its classes: the bundler may rename classes.
 */
const isOutside = (path, kind) =>
  OUTSIDE.test(path) ||
  (kind === 'dynamic-import' && !path.startsWith('@tessera/') && !isBuiltin(path));

/**
 * Packages outside are imported by their path relative to the bundle, because only the module that imports them has them. These
 * paths are added to `outsiders`.
 */
const outside = (output, outsiders) => ({
  name: 'outside',
  setup(build) {
    build.onResolve(
      { filter: /^[^./]/ },
      async ({ path, importer, kind, resolveDir, pluginData }) => {
        if (pluginData === OUTSIDE || !isOutside(path, kind)) return undefined;
        const options = { importer, kind, resolveDir, pluginData: OUTSIDE };
        const { path: found, errors } = await build.resolve(path, options);
        if (errors.length > 0) return { errors };
        outsiders.add(found);
        return { path: relative(output, found), external: true };
      },
    );
  },
});

/**
 * JavaScript in ASCII. V8 stores the text of a module with any other character in two bytes for each character. esbuild
 * escapes these characters in strings, and leaves comments, regular expressions and tagged templates as they are.
 */
const inAscii = (code) => {
  // An escape would change the value of the first, and a backslash before it the meaning of the second.
  if (/String\.raw`[^`]*[^\0-\x7f`]|(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.test(code)) {
    throw new Error('String.raw or a backslash with a character outside of ASCII.');
  }
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
};

/** Throws if a module in the bundle finds files in a way that works only outside. */
const requireNoPlaces = (files) => {
  const places = `\\b(?:${Object.values(PLACES).join('|')})\\b|\\bimport\\.meta\\.(?!url\\b)\\w+`;
  const found = files.flatMap(({ text: code }) =>
    [...code.matchAll(new RegExp(places, 'g'))].map(({ 0: place, index }) => {
      const comment = code.lastIndexOf('node_modules/', index);
      return `${place} after ${code.slice(comment, code.indexOf('\n', comment)).slice(0, 100)}`;
    }),
  );
  if (found.length === 0) return;
  throw new Error(
    `These modules find files beside their code, so they must stay outside:\n${found.join('\n')}`,
  );
};

/**
 * Bundles the programs of a folder, named by their paths in it, into the folder `output`: `dist/main.js` becomes `main.js`
 * there. Returns absolute paths: of the `modules` in the bundle, of its `files`, of the files and folders `besides` that
 * modules find by their URLs, and of the `outsiders`, modules of packages outside that the bundle imports.
 */
export const bundle = async (folder, programs, output) => {
  const { build } = await import('esbuild');
  const directory = resolve(output);
  const besides = new Set();
  const outsiders = new Set();
  const { metafile, outputFiles, warnings } = await build({
    absWorkingDir: resolve(folder),
    entryPoints: programs,
    outdir: directory,
    // All files are in one folder, so that a URL is relative to any of them.
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Without esbuild's own condition, for code that only bundlers understand.
    conditions: ['node'],
    banner: { js: BEGINNING },
    plugins: [keepingIdentity(directory, besides), outside(directory, outsiders)],
    define: PLACES,
    legalComments: 'inline',
    logLevel: 'warning',
    metafile: true,
  });
  // One of them is that CommonJS does not export a name that is imported.
  if (warnings.length > 0) throw new Error('The bundle has warnings.');
  requireNoPlaces(outputFiles);
  mkdirSync(directory, { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
  const files = outputFiles.map(({ path }) => path);
  const modules = Object.keys(metafile.inputs).map((path) => join(resolve(folder), path));
  return { modules, files, besides: [...besides], outsiders: [...outsiders] };
};

/** Programs in `dist/testing` that only tests start, with `testedProgram`. */
const OF_TESTS = {
  identity: ['account-sweeper', 'dying-relay', 'noting-relay'],
  crm: ['killed-files', 'killed-publisher'],
};

const DAY_MS = 86_400_000;

/** Removes files of earlier bundles, except for those of the last day: a running service may import them yet. */
const removeOldFiles = (output, present) => {
  for (const name of readdirSync(output)) {
    const path = join(output, name);
    const isOld = Date.now() - statSync(path).mtimeMs > DAY_MS;
    if (isOld && !present.includes(path)) rmSync(path);
  }
};

/** Bundles the programs of both services in the build. */
const bundleServices = async () => {
  for (const [app, names] of Object.entries(OF_TESTS)) {
    const folder = join(root, 'apps', app);
    const output = join(folder, 'dist/bundle');
    const further = names.map((name) => `dist/testing/${name}.js`);
    // start-service.mjs reads the settings first, from the same modules.
    const programs = ['dist/main.js', 'dist/cli.js', 'dist/config.js', ...further];
    const { files } = await bundle(folder, programs, output);
    removeOldFiles(output, files);
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleServices();
