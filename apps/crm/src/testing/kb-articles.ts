import type { chatTenant } from './chat.ts';

/** The path of articles. */
export const ARTICLES = '/api/crm/kb-articles';

type Tenant = Pick<ReturnType<typeof chatTenant>, 'post'>;

/** Returns a function that creates an article and returns its path. */
export const articlesOf = ({ post }: Tenant) => {
  let made = 0;
  return async (owner: Readonly<Record<string, string>> = {}): Promise<string> => {
    made += 1;
    const draft = { title: 'Tea', slug: `tea-${made}`, body: 'Boil water.' };
    const { body } = await post(ARTICLES, draft, owner).expect(201);
    return `${ARTICLES}/${body.data.id}`;
  };
};
