// A database that answers but cannot be written, made so from outside.
import type { TestDatabase } from './database.js'

/** Every insert of an event fails with this SQLSTATE. */
export async function failWrites(database: TestDatabase, sqlstate: string): Promise<void> {
  await database.sql(
    `create or replace function public.fail_write() returns trigger language plpgsql as $$
     begin
       raise exception 'made to fail' using errcode = '${sqlstate}';
     end $$`,
  )
  await database.sql(
    'create trigger fail_write before insert on noetl.event for each statement execute function public.fail_write()',
  )
}

export async function healWrites(database: TestDatabase): Promise<void> {
  await database.sql('drop trigger fail_write on noetl.event')
}

/** As after a failover to a standby: sessions in use now and later ones may only read. */
export async function makeReadOnly(database: TestDatabase): Promise<void> {
  await setReadOnly(database, 'on')
}

export async function makeWritable(database: TestDatabase): Promise<void> {
  await setReadOnly(database, 'off')
}

async function setReadOnly(database: TestDatabase, value: 'on' | 'off'): Promise<void> {
  const name = new URL(database.url).pathname.slice(1)
  await database.db.tx(async (tx) => {
    await tx.run({ name: 'test', text: 'set transaction read write' })
    await tx.run({ name: 'test', text: `alter database ${name} set default_transaction_read_only = ${value}` })
  })
  await database.sql(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
    [name],
  )
}
