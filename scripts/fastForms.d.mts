export const queriesStayYoung: {
  name: string
  transform(code: string, id: string): { code: string; map: null } | null
}
export function withSharedShapes(code: string): string
