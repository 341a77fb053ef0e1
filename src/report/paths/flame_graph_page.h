// The page that draws a flame graph; the data take the place of its comment DATA.
#pragma once

namespace pctally {

inline constexpr char kFlameGraphPage[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>pctally flame graph</title><style>
:root{color-scheme:light dark;--back:#fff;--text:#1c1e21;--dim:#5f6670;--line:#d5d9de;--hit:#7a2bd0;--hue:80%}
@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e8eaed;--dim:#9aa3ad;--line:#333940;--hit:#c79bff;--hue:42%}}
body{margin:0;padding:16px;background:var(--back);color:var(--text);font:14px/1.4 system-ui,sans-serif}
h1{font-size:16px;margin:0 0 2px;overflow-wrap:anywhere}p{margin:0 0 10px;color:var(--dim)}
form{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:0 0 10px}
input[type=search]{font:inherit;padding:4px 8px;min-width:18em;max-width:100%}button{font:inherit;padding:4px 10px}
#graph{position:relative;outline:none}#graph div{position:absolute;height:19px;line-height:19px;overflow:hidden;white-space:nowrap;
text-overflow:ellipsis;font-size:12px;padding:0 3px;box-sizing:border-box;border:solid var(--back);border-width:0 1px 1px 0;
border-radius:2px;cursor:pointer;color:#14161a}@media(prefers-color-scheme:dark){#graph div{color:#f2f3f5}}
#graph div.hit{background:var(--hit)!important;color:var(--back)}#graph div.focus{outline:2px solid var(--text);outline-offset:-2px;z-index:1}
#graph div.above{opacity:.55}#note{min-height:2.8em;margin-top:10px;border-top:1px solid var(--line);padding-top:6px;overflow-wrap:anywhere}
</style></head><body><h1 id="title"></h1><p id="sum"></p>
<form id="form"><label>Search <input type="search" id="find" placeholder="a part of a name (/)" autocomplete="off"></label>
<span id="hits" aria-live="polite"></span><button type="button" id="turn" aria-pressed="false">Callers upwards: what ran at the top</button>
<button type="button" id="reset">Show all (Esc)</button></form>
<div id="graph" tabindex="0" role="tree" aria-label="flame graph; arrows move, Enter zooms, Escape shows all"></div>
<p id="note" aria-live="polite"></p>
<script>const data=/*DATA*/;
"use strict";
const $=id=>document.getElementById(id),HEIGHT=20;
function make(name,object,inlined,up){return{name,object,inlined,up,ticks:0,self:0,down:[],depth:up?up.depth+1:0}}
const root=make("all",0,0,null),list=[];
for(const[parent,name,object,ticks,self,inlined]of data.nodes){const up=parent<0?root:list[parent];
 const node=make(data.texts[name],data.texts[object],inlined,up);node.ticks=ticks;node.self=self;up.down.push(node);list.push(node)}
root.ticks=data.ticks;
// What ran, and above it who called it: made from the same nodes.
function turned(){const top=make("all",0,0,null);top.ticks=data.ticks;const index=new Map();
 for(const node of list){if(!node.self)continue;let at=top;for(let step=node;step!==root;step=step.up){
  let known=index.get(at);if(!known)index.set(at,known=new Map());const key=step.object+"\n"+step.name;let next=known.get(key);
  if(!next){next=make(step.name,step.object,step.inlined,at);known.set(key,next);at.down.push(next)}
  next.ticks+=node.self;at=next}at.self+=node.self}
 const sort=node=>{node.down.sort((a,b)=>b.ticks-a.ticks)};const all=[top];while(all.length){const node=all.pop();sort(node);all.push(...node.down)}
 return top}
let tree=root,other=null,zoom=root,focus=root,wanted="";
function wilson(share){const n=data.samples,z=1.96;if(!n)return 1;const c=(share+z*z/(2*n))/(1+z*z/n),
 h=z*Math.sqrt(share*(1-share)/n+z*z/(4*n*n))/(1+z*z/n);return Math.max(c+h-share,share-(c-h))}
function hue(text){let h=0;for(const c of text)h=(h*31+c.codePointAt(0))%360;return h}
function figures(node){const share=node.ticks/data.ticks;let text=(100*share).toFixed(2)+" % ± "+(100*wilson(share)).toFixed(2)+", "+node.ticks+" ticks";
 if(data.seconds!==null)text+=", "+(data.seconds*share).toFixed(3)+" s";if(node.self)text+="; self "+(100*node.self/data.ticks).toFixed(2)+" %";return text}
function tell(node){$("note").textContent=node.name+(node.object?" ("+node.object+(node.inlined?", inlined":"")+")":"")+": "+figures(node)}
function draw(){const graph=$("graph"),width=graph.clientWidth,boxes=[];let deepest=0;graph.textContent="";
 const put=(node,left,size,above)=>{if(size<0.6)return;deepest=Math.max(deepest,node.depth);const box=document.createElement("div");
  box.style.left=left+"px";box.style.width=size+"px";box.style.top=node.depth*HEIGHT+"px";
  box.style.background=node.depth?"hsl("+hue(node.object+"")+" 55% var(--hue) / "+(node.inlined?".55":".85")+")":"var(--line)";
  box.textContent=size>24?node.name:"";box.title=node.name+"\n"+figures(node);box.setAttribute("role","treeitem");
  box.setAttribute("aria-label",node.name+", "+figures(node));
  if(wanted&&node.name.toLowerCase().includes(wanted))box.className="hit";if(above)box.classList.add("above");if(node===focus)box.classList.add("focus");
  box.onclick=()=>{focus=zoom=node;draw();tell(node)};box.onmouseenter=()=>tell(node);boxes.push(box)};
 for(let node=zoom.up;node;node=node.up)put(node,0,width,true);
 const stack=[[zoom,0,width]];while(stack.length){const[node,left,size]=stack.pop();put(node,left,size,false);let at=left;
  for(const child of node.down){const part=size*child.ticks/node.ticks;if(part>=0.6)stack.push([child,at,part]);at+=part}}
 graph.append(...boxes);graph.style.height=(deepest+1)*HEIGHT+"px";count()}
// A tick counts once however often the name recurs on its path.
function count(){if(!wanted){$("hits").textContent="";return}let ticks=0;const stack=[...tree.down];while(stack.length){const node=stack.pop();
 if(node.name.toLowerCase().includes(wanted))ticks+=node.ticks;else stack.push(...node.down)}
 $("hits").textContent=tree===root?(100*ticks/data.ticks).toFixed(1)+" % of all ticks have it on the stack":""}
function show(node){focus=node;let up=node;while(up&&up!==zoom)up=up.up;if(!up)zoom=node;draw();tell(node)}
$("graph").onkeydown=event=>{const siblings=focus.up?focus.up.down:[focus],at=siblings.indexOf(focus);let next=null;
 if(event.key==="ArrowDown")next=focus.down.reduce((a,b)=>!a||b.ticks>a.ticks?b:a,null);else if(event.key==="ArrowUp")next=focus.up;
 else if(event.key==="ArrowLeft")next=siblings[at-1];else if(event.key==="ArrowRight")next=siblings[at+1];
 else if(event.key==="Enter"){zoom=focus;draw();tell(focus)}else return;event.preventDefault();if(next)show(next)};
document.onkeydown=event=>{if(event.key==="Escape"){zoom=focus=tree;draw();tell(tree)}
 else if(event.key==="/"&&document.activeElement!==$("find")){event.preventDefault();$("find").focus()}};
$("find").oninput=()=>{wanted=$("find").value.trim().toLowerCase();draw()};$("form").onsubmit=event=>event.preventDefault();
$("reset").onclick=()=>{zoom=focus=tree;draw();tell(tree)};
$("turn").onclick=()=>{other=other||turned();tree=tree===root?other:root;zoom=focus=tree;$("turn").setAttribute("aria-pressed",tree!==root);draw();tell(tree)};
$("title").textContent=data.title;$("sum").textContent=data.ticks+" ticks"+(data.seconds===null?"":", "+data.seconds.toFixed(3)+" s")+
 "; the width of a box is its share, with its callees; ± is a 95 % confidence interval; pale boxes were inlined";
addEventListener("resize",draw);draw();tell(root);
</script></body></html>
)page";

}  // namespace pctally
