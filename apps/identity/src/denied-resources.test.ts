import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import { document } from './document.ts';

interface Denied {
  readonly resource_type?: string | null;
}

interface Responses {
  readonly responses: Readonly<
    Record<
      string,
      { content?: Record<string, { examples?: Record<string, { value: Denied }> }> } | undefined
    >
  >;
}

const singular = (plural: string): string => plural.replace(/s$/, '').replaceAll('-', '_');

/** The name of the resource that the last parameter of a path identifies: `/members/{userId}` -> `member`. */
const namedBy = (path: string): string => {
  const [, before = ''] = /.*\/([^/{}]+)(?=\/\{\w+\}[^{}]*$)/.exec(path) ?? [];
  if (before !== 'accounts') return singular(before);
  return path.includes('/sms/') ? 'SMS account' : 'email account';
};

test('A denied request names the type and the id of one resource', () => {
  const wrong = operationsOf(document() as OpenApiDocument).flatMap((operation) => {
    const { responses } = operation as unknown as Responses;
    const examples = responses[403]?.content?.['application/json']?.examples ?? {};
    const { path, id } = operation;
    return Object.values(examples).flatMap(({ value: { resource_type: type } }) =>
      !type || !path.includes('{') || type === namedBy(path) ? [] : [`${id}: ${type}`],
    );
  });
  expect(wrong).toEqual([]);
});
