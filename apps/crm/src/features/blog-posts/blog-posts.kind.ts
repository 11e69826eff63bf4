import { contentKind } from '../../content/content-kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { contentLinks } from '../content/content-links.ts';

/** A post of the blog. */
export const blogPost = contentKind({
  table: 'blog_posts',
  name: 'post',
  schema: 'BlogPost',
  permissions: 'blog.posts',
  links: contentLinks('blog_posts'),
  input: {},
  answer: {},
  hidden: {},
});

export type BlogPosts = RecordsOf<typeof blogPost>;
