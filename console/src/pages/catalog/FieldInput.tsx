// One field of a run form, by its kind.
import { type Field, firstText } from './runForm'

interface FieldInputProps {
  field: Field
  /** Undefined: as it stands in the document. */
  text: string | undefined
  refused: string | undefined
  onWrite: (text: string) => void
}

export function FieldInput({ field, text, refused, onWrite }: FieldInputProps) {
  const id = `field-${field.name}`
  return (
    <div class="field">
      <label for={id}>
        <b>{field.name}</b> <span class="muted">{field.kind === 'null' ? 'JSON or text' : field.kind}</span>
      </label>
      <Input id={id} field={field} text={text ?? firstText(field)} onWrite={onWrite} />
      {field.description !== null && <span class="muted">{field.description}</span>}
      {field.credential_glob !== null && <span class="muted">Name of a credential: {field.credential_glob}</span>}
      {refused !== undefined && (
        <span class="failed" role="alert">
          {refused}
        </span>
      )}
    </div>
  )
}

interface InputProps {
  id: string
  field: Field
  text: string
  onWrite: (text: string) => void
}

function Input({ id, field, text, onWrite }: InputProps) {
  const write = (event: { currentTarget: { value: string } }): void => onWrite(event.currentTarget.value)
  if (field.kind === 'enum' || field.kind === 'boolean') {
    const options = field.kind === 'boolean' ? ['true', 'false'] : field.options
    return (
      <select id={id} value={text} onChange={write}>
        {[...new Set([...options, text])].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    )
  }
  if (field.kind === 'object' || field.kind === 'array') {
    const rows = Math.min(12, text.split('\n').length + 1)
    return <textarea id={id} class="mono" rows={rows} spellcheck={false} value={text} onInput={write} />
  }
  if (field.secret) {
    const first = 'as the document has it, which is not shown'
    return <input id={id} type="password" autocomplete="off" placeholder={first} value={text} onInput={write} />
  }
  const isNumber = field.kind === 'integer' || field.kind === 'number'
  return (
    <input
      id={id}
      type="text"
      class={isNumber ? 'mono' : ''}
      inputMode={isNumber ? 'decimal' : 'text'}
      value={text}
      onInput={write}
    />
  )
}
