// Reads what files of many formats say of two variables: the one that is looked for, and APP_ENV, which
// has to stand in the same configuration. Needs the `yaml` package: import it when that is installed.
import { basename } from 'node:path';
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  Scalar,
} from 'yaml';

/** Code reads an environment and does not set one; documents only talk of it. */
const isConfiguration = (path) =>
  !/\.(m?[jt]sx?|c[jt]s|md|sql|prisma)$/.test(path) || /\.config\.[cm]?[jt]s$/.test(path);
const isYaml = (path) => /\.(ya?ml|jsonc?)(\.[a-z]+)?$/.test(path);
const isDockerfile = (path) => /(^|[./-])dockerfile\b/i.test(basename(path));

/** `NAME=value`, `NAME := value`, `"NAME": "value"`; not `$NAME = ...`, `${NAME:-...}` or `NAME == ...`, which ask. */
const assignment = (name) =>
  new RegExp(
    `(?<![\\w$-]|\\$\\{)${name}["']?\\s*(?:[:?+]?=(?!=)|:(?=[\\s"']))[ \\t]*("[^"]*"|'[^']*'|[^\\s;&|,})\\]]*)`,
    'g',
  );
const values = (name, text) =>
  [...text.matchAll(assignment(name))].map(([, value]) => value.replace(/^(["'])(.*)\1$/, '$2'));

/** Lines without comments, those that a backslash continues in one, each with the number of its first. */
const logicalLines = (text) => {
  const lines = [];
  let isOpen = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(#|\/\/)/.test(line) && !isOpen) continue;
    const content = line.replace(/\\\s*$/, ' ');
    if (isOpen) lines.at(-1).text += content;
    else lines.push({ line: index + 1, text: content });
    isOpen = content !== line;
  }
  return lines;
};

/** A line that assigns and runs nothing: what it says holds for the lines after it, too. */
const ASSIGNMENTS =
  /^\s*(export\s+|ENV\s+|ARG\s+)?(["']?[\w.]+["']?\s*([:?+]?=|:)\s*("[^"]*"|'[^']*'|\S*?)[;,]?(\s+|$))+$/;

/** `name: NAME` with `value: ...` behind it, as charts and Terraform have it, as `NAME=...` in the first line. */
const PAIR =
  /\bname["']?\s*[:=]\s*["']?(?:\w+\.)*(\w+)["']?(,?\s*)["']?value["']?\s*[:=][ \t]*("[^"\n]*"|'[^'\n]*'|[^\s,})]+)/gi;
const withoutPairs = (text) =>
  text.replace(PAIR, (_, name, between, value) => `${name}=${value}${between.replace(',', ' ')}`);

/**
 * What plain text assigns to `name`: `{line, value, appEnvs}` each. A command names its APP_ENV in its
 * line; otherwise it is what the whole text says of it, or else what stands around the text.
 */
const inText = (name, text, { around = [], hasCommands = true } = {}) => {
  const lines = logicalLines(withoutPairs(text));
  const whole = lines
    .filter((line) => ASSIGNMENTS.test(line.text))
    .flatMap((line) => values('APP_ENV', line.text));
  return lines.flatMap((line) => {
    const own = hasCommands ? values('APP_ENV', line.text) : [];
    const appEnvs = [own, whole, around].find((found) => found.length > 0) ?? [];
    return values(name, line.text).map((value) => ({ line: line.line, value, appEnvs }));
  });
};

/** A stage has what the stage that it is built from has, and then its own. */
const inDockerfile = (name, text) => {
  const stages = [];
  const lines = text.replace(/^(\s*ENV\s+\w+)[ \t]+(?!=)/gim, '$1=').split('\n');
  for (const [index, line] of lines.entries()) {
    const [, from, as] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? [];
    if (from || stages.length === 0) {
      const base = stages.find((stage) => stage.as !== undefined && stage.as === from);
      stages.push({ as, lines: base ? [...base.lines] : [] });
    }
    stages.at(-1).lines[index] = line;
  }
  return stages.flatMap((stage) => {
    const own = Array.from(lines, (_, index) => stage.lines[index] ?? '').join('\n');
    return inText(name, own, { hasCommands: false });
  });
};

const plain = (node) => (isScalar(node) ? node.value : undefined);
const keyed = (map, key) => map.items.find((pair) => plain(pair.key) === key)?.value;

const fromBase64 = (value) => Buffer.from(String(value), 'base64').toString();

/** The entries of one environment: a map, `[{name, value}]` or `[NAME=value]`, as `{name, value, node}`. */
const entriesOf = (node, resolve, decode) => {
  if (isSeq(node)) {
    return node.items.flatMap((item) => {
      if (isMap(item)) {
        return { name: plain(keyed(item, 'name')), value: plain(keyed(item, 'value')), node: item };
      }
      const [, name, value] = /^([A-Z_]+)(?:=(\S*))?$/.exec(String(plain(item))) ?? [];
      return name ? { name, value, node: item } : [];
    });
  }
  const own = node.items.filter(({ key }) => plain(key) !== '<<');
  const merged = node.items
    .filter((pair) => !own.includes(pair))
    .flatMap(({ key, value }) => (isSeq(value) ? value.items : [value]).map((of) => ({ key, of })))
    .filter(({ of }) => isMap(resolve(of)))
    .flatMap(({ key, of }) =>
      entriesOf(resolve(of), resolve, decode).map((entry) => ({ ...entry, node: key })),
    );
  const names = new Set(own.map(({ key }) => plain(key)));
  return [
    ...merged.filter(({ name }) => !names.has(name)),
    ...own.map(({ key, value }) => ({
      name: plain(key),
      value: decode(plain(resolve(value))),
      node: key,
    })),
  ];
};

/**
 * YAML and JSON: every map and list may be an environment. APP_ENV counts where it stands beside the
 * variable, or in the nearest `env` further out, as steps and jobs of a workflow have it.
 */
const inDocument = (name, document, lineOf) => {
  const found = [];
  const resolve = (node) => (isAlias(node) ? node.resolve(document) : node);

  const inScalar = (node, around) => {
    const isBlock = [Scalar.BLOCK_LITERAL, Scalar.BLOCK_FOLDED].includes(node.type);
    for (const { line, ...rest } of inText(name, node.value, { around })) {
      found.push({ line: lineOf(node) + (isBlock ? line : line - 1), ...rest });
    }
  };
  const inCollection = (node, around, decode) => {
    const entries = entriesOf(node, resolve, decode);
    const own = entries.filter((entry) => entry.name === 'APP_ENV').map(({ value }) => value);
    const appEnvs = own.length > 0 ? own : around;
    for (const entry of entries.filter((of) => of.name === name)) {
      found.push({ line: lineOf(entry.node), value: entry.value, appEnvs });
    }
    const env = isMap(node) ? resolve(keyed(node, 'env')) : undefined;
    const outer = isMap(env) ? plain(keyed(env, 'APP_ENV')) : undefined;
    const within = outer === undefined ? around : [outer];
    const isSecret = isMap(node) && plain(keyed(node, 'kind')) === 'Secret';
    for (const item of node.items) {
      // `NAME=value` was an entry already.
      if (isScalar(item) && entries.some((entry) => entry.node === item)) continue;
      const isEncoded = isSecret && isPair(item) && plain(item.key) === 'data';
      walk(isPair(item) ? item.value : item, within, isEncoded ? fromBase64 : undefined);
    }
  };
  const walk = (node, around, decode = (value) => value) => {
    if (isScalar(node) && typeof node.value === 'string') inScalar(node, around);
    if (isMap(node) || isSeq(node)) inCollection(node, around, decode);
  };
  walk(document.contents, []);
  return found;
};

const inYaml = (name, text) => {
  const lineCounter = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter })];
  // What cannot be read, a template for example, is read as text, which knows less and forgives less.
  if (documents.some(({ errors }) => errors.length > 0)) return inText(name, text);
  const lineOf = (node) => lineCounter.linePos(node.range[0]).line;
  return documents.flatMap((document) => inDocument(name, document, lineOf));
};

/** Everything that a file says of a variable, as `{line, value, appEnvs}`; `path` tells its format. */
export const settingsOf = (name, path, text) => {
  if (!isConfiguration(path) || !text.includes(name)) return [];
  if (isYaml(path)) return inYaml(name, text);
  return isDockerfile(path) ? inDockerfile(name, text) : inText(name, text);
};
