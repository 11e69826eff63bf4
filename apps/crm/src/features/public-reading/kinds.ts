/** A kind of content that is read publicly: its segment in paths, and its table. */
export interface PublicKind {
  readonly path: 'kb-articles' | 'blog-posts' | 'pages';
  readonly table: 'kb_articles' | 'blog_posts' | 'pages';
  /** In operation ids. */
  readonly id: string;
  /** In texts. */
  readonly name: string;
  readonly plural: string;
}

export const articles: PublicKind = {
  path: 'kb-articles',
  table: 'kb_articles',
  id: 'KbArticle',
  name: 'article',
  plural: 'articles',
};
export const posts: PublicKind = {
  path: 'blog-posts',
  table: 'blog_posts',
  id: 'BlogPost',
  name: 'post',
  plural: 'posts',
};
export const pages: PublicKind = {
  path: 'pages',
  table: 'pages',
  id: 'Page',
  name: 'page',
  plural: 'pages',
};

export const publicKinds: readonly PublicKind[] = [articles, posts, pages];
