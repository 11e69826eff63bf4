import type { RouteTable } from '@tessera/http-kit';
import { type ContentDependencies, contentRoutes } from '../../content/content-routes.ts';
import { type BlogPosts, blogPost } from './blog-posts.kind.ts';

export const blogPostRoutes = (
  blogPosts: BlogPosts,
  dependencies: ContentDependencies,
): RouteTable => contentRoutes(blogPost, blogPosts, { plural: 'BlogPosts', ...dependencies });
