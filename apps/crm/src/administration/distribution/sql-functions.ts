import type { ClientBase } from 'pg';

interface SqlFunction {
  readonly definition: string;
  readonly body: string;
  readonly returnsSet: boolean;
  readonly result: string;
}

const FUNCTIONS = `SELECT pg_get_functiondef(pg_proc.oid) AS definition, prosrc AS body, proretset AS "returnsSet",
    format_type(prorettype, NULL) AS result
  FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
  WHERE pronamespace = 'tenant_crm'::regnamespace AND lanname = 'sql' AND prosrc ~ 'tenant_crm\\.[a-z_]+\\y'
    AND prosecdef
  ORDER BY proname`;

const HEAD = / LANGUAGE sql\n/;

const plpgsqlBody = ({ body, returnsSet, result }: SqlFunction): string => {
  const statement = `${body.trim().replace(/;$/, '')}`;
  // As in SQL functions, a name is first that of a column.
  const head = '#variable_conflict use_column';
  if (returnsSet) return `${head}\nBEGIN\n  RETURN QUERY ${statement};\nEND`;
  if (result === 'void') return `${head}\nBEGIN\n  ${statement};\nEND`;
  return [
    `${head}\nDECLARE\n  result ${result};\nBEGIN`,
    // A statement that changes rows in a common table expression cannot be part of an expression.
    `  FOR result IN ${statement} LOOP\n    RETURN result;\n  END LOOP;\nEND`,
  ].join('\n');
};

/**
 * The statements that replace the functions for maintenance by the same ones in PL/pgSQL: Citus cannot plan the
 * parameters of functions in SQL.
 */
export const translatedFunctions = async (client: Pick<ClientBase, 'query'>): Promise<string[]> => {
  const { rows } = await client.query<SqlFunction>(FUNCTIONS);
  return rows.map((row) => {
    const [before] = row.definition.split('AS $function$');
    return `${before?.replace(HEAD, ' LANGUAGE plpgsql\n')}AS $function$\n${plpgsqlBody(row)}\n$function$`;
  });
};
