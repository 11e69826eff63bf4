import { described, list, named, shape, text } from '@tessera/fields';
import { openapi, type RouteGroups } from './index.ts';
import { route, things } from './testing/things.ts';

test('the OpenAPI document says what the routes do', () => {
  const document = openapi(
    { Things: things },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      error: shape({ message: text(100) }),
      problems: { 401: 'No caller', 403: 'Not allowed', 404: 'Not found', 422: 'Does not fit' },
    },
  ) as { paths: Record<string, Record<string, { responses: object }>> };
  const update = document.paths['/things/{id}']?.put;
  expect(update).toMatchObject({
    operationId: 'updateThing',
    'x-permissions': ['things.update'],
    security: [{ bearer: [] }],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { format: 'uuid' } }],
  });
  expect(Object.keys(update?.responses ?? {})).toEqual(['200', '401', '403', '404', '422']);
  expect(document.paths['/things/board']?.get).toMatchObject({
    security: [],
    'x-permissions': 'public',
  });
});
