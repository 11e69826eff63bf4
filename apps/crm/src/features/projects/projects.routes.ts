import type { Exports, RouteTable } from '@tessera/http-kit';
import { deleteReferredRoute } from '../../records/referred-records.ts';
import { recordRoutes } from '../../records/routes.ts';
import { type ProjectMembers, projectMember } from './project-members.kind.ts';
import { project } from './projects.kind.ts';
import type { ReferredProjects } from './projects.service.ts';

const managerProblem = {
  409: 'The member is the owner, or the last manager of a private project',
};

export const projectRoutes = (
  referred: ReferredProjects,
  projectMembers: ProjectMembers,
  exports: Exports,
): RouteTable => {
  const routes = recordRoutes(project, referred.records);
  const members = recordRoutes(projectMember, projectMembers);
  return {
    listProjects: routes.list(),
    exportProjects: routes.export({ permission: 'projects.export', exports }),
    createProject: routes.create({
      description: 'The owner and the creator become managers of the project.',
      problems: {
        403: 'The caller lacks `projects.create`, or is no user and creates a private project (`user_required`)',
      },
    }),
    getProject: routes.get(),
    updateProject: routes.update(),
    deleteProject: deleteReferredRoute(
      project,
      referred,
      'It can be restored. Its tasks and time entries are no longer shown until then, except for timers that are running. With `force`, that requires `tasks.delete` and `time_entries.delete` if it has such.',
    ),
    restoreProject: routes.restore({
      description:
        'A record that is not deleted does not change. If another project has taken the key meanwhile, give another `key`.',
      problems: { 409: 'Another project has the key, and the request gives no other one' },
    }),
    listProjectHistory: routes.history(),

    listProjectMembers: members.list(),
    exportProjectMembers: members.export({ permission: 'projects.export', exports }),
    createProjectMember: members.create({
      summary: 'Add a member to a project',
      description: 'In a private project, only managers can.',
    }),
    getProjectMember: members.get(),
    updateProjectMember: members.update({
      summary: 'Change the role of a member',
      description: 'In a private project, only managers can.',
      problems: managerProblem,
    }),
    deleteProjectMember: members.delete({
      summary: 'Remove a member from a project',
      description: 'In a private project, only managers remove others; everybody may leave.',
      problems: managerProblem,
    }),
    listProjectMemberHistory: members.history({ summary: 'List the changes of a member' }),
  };
};
