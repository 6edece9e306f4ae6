package store
import ("testing";"fmt";"time")
func TestZZExplain(t *testing.T){
 g,_ := fleet(t,10000)
 for _,q := range []string{"ledger_recall_tasks","ledger_recall_sandboxes"} {
  rows,err := g.pool.Query(t.Context(),"EXPLAIN ANALYZE "+replaceAll(queries[q]))
  if err!=nil {t.Fatal(err)}
  for rows.Next(){ var s string; rows.Scan(&s); fmt.Println(s)}
 }
 for range 3 { s:=time.Now(); g.Recall(t.Context()); fmt.Println(time.Since(s)) }
}
func replaceAll(s string) string { 
 out:=""
 for i:=0;i<len(s);i++{ if len(s)-i>=7 && s[i:i+7]=="@recent" { out+="(now()-interval '1 hour')"; i+=6; continue }; out+=string(s[i]) }
 return out }
