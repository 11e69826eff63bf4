import type { Exports, RouteTable } from '@tessera/http-kit';
import { contentRoutes } from '../../content/content-routes.ts';
import type { Database } from '../../database.ts';
import { type BlogPosts, blogPost } from './blog-posts.kind.ts';

export const blogPostRoutes = (
  blogPosts: BlogPosts,
  database: Database,
  exports: Exports,
): RouteTable => contentRoutes(blogPost, blogPosts, { plural: 'BlogPosts', exports, database });
