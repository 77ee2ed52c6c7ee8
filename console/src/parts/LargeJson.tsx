// A document of the API. Of a large one the beginning, a way to save it, and its tree only for whoever asks for it.
import { useState } from 'preact/hooks'
import { getJson, type Json, parseJson } from '../lib/losslessJson'
import { readHead } from '../lib/readHead'
import { type Resource, type ResourceOptions, useResource } from '../lib/useResource'
import { Download } from './Download'
import { JsonView } from './JsonView'
import { Panel } from './Panel'

/** Its value, or the text that it begins with. */
export type Begun = { value: Json } | { text: string }

export function useBegun(path: string, options: ResourceOptions = {}): Resource<Begun> {
  return useResource<Begun>(
    path,
    async (signal) => {
      const { text, isCut } = await readHead(path, signal)
      return isCut ? { text } : { value: parseJson(text) }
    },
    options,
  )
}

interface LargeJsonProps {
  path: string
  /** Of the file it is saved as. */
  name: string
  begun: Begun
}

export function LargeJson({ path, name, begun }: LargeJsonProps) {
  return 'value' in begun ? (
    <JsonView value={begun.value} open={3} />
  ) : (
    <Beginning key={path} path={path} name={name} text={begun.text} />
  )
}

function Beginning({ path, name, text }: { path: string; name: string; text: string }) {
  const [isWanted, setWanted] = useState(false)
  const whole = useResource(isWanted ? path : null, (signal) => getJson(path, signal))
  if (isWanted) {
    return (
      <Panel resource={whole} lines={8}>
        {(value) => <JsonView value={value} open={3} />}
      </Panel>
    )
  }
  return (
    <>
      <div class="filters">
        <span>The first 256 KB of it.</span>
        <Download path={path} name={name} />
        <button type="button" onClick={() => setWanted(true)}>
          Show all of it as a tree
        </button>
      </div>
      <pre class="raw">{text}</pre>
    </>
  )
}
