// All text of a database, as a search for secrets sees it: every row of every table of ours, bytes as characters.
import type { TestDatabase } from './database.js'

export async function everyText(database: Pick<TestDatabase, 'sql'>): Promise<string> {
  const tables = await database.sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'noetl' and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const columns = await database.sql<{ column: string; type: string }>(
      `select quote_ident(attname) as column, atttypid::regtype::text as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [name],
    )
    const parts = columns.map(({ column, type }) =>
      type === 'bytea' ? `encode(t.${column}, 'escape')` : `t.${column}::text`,
    )
    const rows = await database.sql<{ text: string }>(
      `select concat_ws(' ', ${parts.join(', ')}) as text from ${name} t`,
    )
    for (const row of rows) texts.push(`${name} ${row.text}`)
  }
  return texts.join('\n')
}
