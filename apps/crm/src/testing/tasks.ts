import type { Test } from 'supertest';
import type { TestTenant } from './tenant.ts';

export const tasksPath = '/api/crm/tasks';
export const statuses = ['todo', 'in_progress', 'review', 'done'] as const;
type Status = (typeof statuses)[number];

interface BoardColumn {
  readonly status: Status;
  readonly tasks: readonly { readonly id: string; readonly title: string }[];
  readonly meta: Readonly<Record<string, unknown>>;
  readonly links: Readonly<Record<string, string | null>>;
}

/** Creates tasks and reads boards in the tenant of the test. */
export const boardsOf = ({ get, post }: Pick<TestTenant, 'get' | 'post'>) => {
  let keys = 0;
  const project = async (input: object = {}): Promise<string> => {
    keys += 1;
    const { body } = await post('/api/crm/projects', { name: 'A', key: `P${keys}`, ...input });
    return body.data.id;
  };
  const task = async (input: object = {}): Promise<string> => {
    const { body } = await post(tasksPath, { title: 'A', ...input }).expect(201);
    return body.data.id;
  };
  const columns = async (
    projectId: string,
    query = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<BoardColumn[]> => {
    const url = `${tasksPath}/board?project_id=${projectId}${query}`;
    return (await get(url, headers).expect(200)).body.data.columns;
  };
  return {
    project,
    task,
    columns,
    /** Creates tasks with these titles in a column and returns their ids. */
    async tasks(projectId: string, titles: string, status: Status = 'todo'): Promise<string[]> {
      const ids: string[] = [];
      for (const title of titles) ids.push(await task({ title, status, project_id: projectId }));
      return ids;
    },
    /** The titles in each column that is not empty, such as `{ todo: 'abc' }`. */
    async board(projectId: string): Promise<object> {
      const all = await columns(projectId, '&per_page=100');
      const filled = all.filter(({ tasks }) => tasks.length > 0);
      return Object.fromEntries(
        filled.map(({ status, tasks }) => [status, tasks.map(({ title }) => title).join('')]),
      );
    },
    reorder: (body: object, headers: Record<string, string> = {}): Test =>
      post(`${tasksPath}/reorder`, body, headers),
  };
};
